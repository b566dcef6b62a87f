/* What the translated interpreter (interpreter.c, written by translate.py) is made of: loads and stores of tile memory, calls
 * through the table, and the checks. Plain C.
 *
 *   0        64                208 KiB               272 KiB                                       size
 *   | header | the tile's own  | C stack, grows down | data, bss | Python heap ... | the tile's own |
 *
 * The header is native; the interpreter's own loads and stores cannot reach it. Addresses are 32 bits wide and unchecked until
 * they are used. A load: 64 <= address < size; it may reach 7 bytes beyond, which the machine keeps free (see python.h). A store: in the
 * interpreter's own memory, or where its caller lets it write. */
#ifndef PANDO_ONTILE_INTERPRETER_C_H
#define PANDO_ONTILE_INTERPRETER_C_H

#include <stdint.h>
#include <string.h>

#define LIKELY(x) __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

typedef uint8_t u8;
typedef int8_t s8;
typedef uint16_t u16;
typedef int16_t s16;
typedef uint32_t u32;
typedef int32_t s32;
typedef uint64_t u64;
typedef int64_t s64;
typedef float f32;
typedef double f64;

#if defined(__clang__) && (defined(__x86_64__) || defined(__aarch64__))
#define PRESERVE_MOST __attribute__((preserve_most))
#else
#define PRESERVE_MOST
#endif

#define HEADER_BYTES 64
#define STACK_LOW 0x34000u /* PANDO_PYTHON_BEGIN */
/* A constant: comparing with a field of the header costs 6 % of all. Memory beyond is out of the interpreter's reach. */
#define MEMORY_BYTES 0x9c000u /* PANDO_PYTHON_MEMORY_BYTES */
#define MEMORY_SPAN (MEMORY_BYTES - HEADER_BYTES - 1)
#define OWN_END 0x98000u                   /* PANDO_PYTHON_END */
#define OWN_SPAN (OWN_END - STACK_LOW - 8) /* of addresses that 8 bytes can be written to: one constant for all sizes */

/* The first bytes of a tile that an interpreter is running on. */
struct TileInterpreter {
  int64_t fuel;        /* loop rounds until the machine is asked again */
  char* stack_low;     /* native: calls below this are rejected */
  struct Entry* entry; /* native: who called in (calls.cpp) */
  u32 stack_pointer;   /* the C stack's */
  /* At PANDO_PYTHON_HEADER_OF_CALLER: the caller's. */
};

struct TableEntry {
  u32 type; /* number of the function's type, from 1 */
  void* function;
};

struct InterpreterImage {
  const u8* data;
  u32 data_begin, data_bytes, stack_top;
};
extern const struct InterpreterImage interpreter_image;

enum trap {
  TRAP_OOB = 1,
  TRAP_INT_OVERFLOW,
  TRAP_DIV_BY_ZERO,
  TRAP_INVALID_CONVERSION,
  TRAP_UNREACHABLE,
  TRAP_CALL_INDIRECT,
  TRAP_EXHAUSTION,
  TRAP_FATAL,
  TRAP_FUEL,
  TRAP_STORE,
};

#ifdef __cplusplus
extern "C" {
#endif
__attribute__((noreturn, cold)) void pando_python_trap(struct TileInterpreter*, enum trap);
__attribute__((cold)) void pando_python_out_of_fuel(struct TileInterpreter*);
/* The address, or the end of the interpreter if it may not write `bytes` there. It changes neither memory nor most registers,
 * so the fast path pays little: a tenth where calls and frames are made, which therefore use the own_ stores. */
__attribute__((cold, pure)) PRESERVE_MOST u64 pando_python_check_store(struct TileInterpreter*, u64 address, u64 bytes);
#ifdef __cplusplus
}
#endif

#ifndef __cplusplus

#define TRAP(x) (pando_python_trap(instance, TRAP_##x), 0)
#define UNREACHABLE TRAP(UNREACHABLE)

/* The stack pointer itself: a frame address would cost each function a register and its saving. */
#if defined(__x86_64__)
register char* native_stack_pointer __asm__("rsp");
#elif defined(__aarch64__)
register char* native_stack_pointer __asm__("sp");
#endif
#define ENTER(instance) \
  if (UNLIKELY(native_stack_pointer < instance->stack_low)) TRAP(EXHAUSTION)
#define LOOP(instance) \
  if (UNLIKELY(--instance->fuel < 0)) pando_python_out_of_fuel(instance)

#define SET_STACK_POINTER(instance, value)          \
  do {                                              \
    const u32 to = value;                           \
    if (UNLIKELY(to < STACK_LOW)) TRAP(EXHAUSTION); \
    instance->stack_pointer = to;                   \
  } while (0)

#define CALL_INDIRECT(t, ft, x, ...)                                                                             \
  ((LIKELY((x) - 1u < FUNCTION_TABLE_SIZE && FUNCTION_TABLE[(x) - 1u].type == (ft) + 1) || TRAP(CALL_INDIRECT)), \
   ((t)FUNCTION_TABLE[(x) - 1u].function)(__VA_ARGS__))

#define CHECK_ADDRESS(a) \
  if (UNLIKELY((a) - HEADER_BYTES > MEMORY_SPAN)) TRAP(OOB)
#define CHECK_STORE(a, n) \
  if (UNLIKELY((a) - STACK_LOW > OWN_SPAN)) a = pando_python_check_store(instance, a, n)
#define CHECK_OWN_STORE(a) \
  if (UNLIKELY((a) - STACK_LOW > OWN_SPAN)) TRAP(STORE)
#define CHECK_RANGE(a, n) \
  if (UNLIKELY((u64)(a) - HEADER_BYTES > MEMORY_SPAN || (u64)(a) + (n) > MEMORY_BYTES)) TRAP(OOB)

#define DEFINE_LOAD(name, stored, widened, result)                      \
  static inline result name(struct TileInterpreter* instance, u64 a) {  \
    stored value;                                                       \
    CHECK_ADDRESS(a);                                                   \
    __builtin_memcpy(&value, (const char*)instance + a, sizeof(value)); \
    return (result)(widened)value;                                      \
  }
#define DEFINE_STORE(name, stored, given)                                               \
  static inline void name(struct TileInterpreter* instance, u64 a, given value) {       \
    const stored wrapped = (stored)value;                                               \
    CHECK_STORE(a, sizeof(wrapped));                                                    \
    __builtin_memcpy((char*)instance + a, &wrapped, sizeof(wrapped));                   \
  }                                                                                     \
  static inline void own_##name(struct TileInterpreter* instance, u64 a, given value) { \
    const stored wrapped = (stored)value;                                               \
    CHECK_OWN_STORE(a);                                                                 \
    __builtin_memcpy((char*)instance + a, &wrapped, sizeof(wrapped));                   \
  }

DEFINE_LOAD(i32_load, u32, u32, u32)
DEFINE_LOAD(i64_load, u64, u64, u64)
DEFINE_LOAD(f32_load, f32, f32, f32)
DEFINE_LOAD(f64_load, f64, f64, f64)
DEFINE_LOAD(i32_load8_s, s8, s32, u32)
DEFINE_LOAD(i64_load8_s, s8, s64, u64)
DEFINE_LOAD(i32_load8_u, u8, u32, u32)
DEFINE_LOAD(i64_load8_u, u8, u64, u64)
DEFINE_LOAD(i32_load16_s, s16, s32, u32)
DEFINE_LOAD(i64_load16_s, s16, s64, u64)
DEFINE_LOAD(i32_load16_u, u16, u32, u32)
DEFINE_LOAD(i64_load16_u, u16, u64, u64)
DEFINE_LOAD(i64_load32_s, s32, s64, u64)
DEFINE_LOAD(i64_load32_u, u32, u64, u64)
DEFINE_STORE(i32_store, u32, u32)
DEFINE_STORE(i64_store, u64, u64)
DEFINE_STORE(f32_store, f32, f32)
DEFINE_STORE(f64_store, f64, f64)
DEFINE_STORE(i32_store8, u8, u32)
DEFINE_STORE(i32_store16, u16, u32)
DEFINE_STORE(i64_store8, u8, u64)
DEFINE_STORE(i64_store16, u16, u64)
DEFINE_STORE(i64_store32, u32, u64)

/* Only C code moves memory: nothing of zero bytes needs a valid address. */
static inline void memory_fill(struct TileInterpreter* instance, u32 to, u32 value, u32 bytes) {
  if (bytes == 0) return;
  memset((char*)instance + pando_python_check_store(instance, to, bytes), (int)value, bytes);
}
static inline void memory_copy(struct TileInterpreter* instance, struct TileInterpreter* same, u32 to, u32 from, u32 bytes) {
  (void)same;
  if (bytes == 0) return;
  CHECK_RANGE(from, (u64)bytes);
  memmove((char*)instance + pando_python_check_store(instance, to, bytes), (char*)instance + from, bytes);
}
#endif
#endif
