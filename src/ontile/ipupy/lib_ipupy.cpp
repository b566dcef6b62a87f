// What is behind libIPUpy.hpp: an interpreter per tile (runtime/python.h) for codelets of others. Everything is weak: a module that
// is linked twice, from two .gp files, is there once.
#include <string.h>
#include <libIPUpy.hpp>
#include <pando/tile.hpp>

#include "ontile/runtime/python.h"

#define LIBRARY extern "C" __attribute__((weak))

// The interpreter's C stack, data and heap, and its code.
extern "C" const pando::Needs pando_needs_python, pando_needs_python_header;
LIBRARY const pando::Needs pando_needs_python = {
    {PANDO_PYTHON_BEGIN, PANDO_PYTHON_END - PANDO_PYTHON_BEGIN}, nullptr, PANDO_PYTHON_CODE_BYTES};
LIBRARY const pando::Needs pando_needs_python_header = {{0, PANDO_PYTHON_HEADER_BYTES}, nullptr, 0};

// Of the largest jmp_buf that codelets declare.
LIBRARY unsigned IPUpy_exit_env[64] = {};
LIBRARY unsigned IPUpy_checkpoint_env[64] = {};
LIBRARY char* IPUpy_stdout_head = nullptr;

extern "C" int setjmp(void*) __attribute__((returns_twice));
extern "C" void longjmp(void*, int) __attribute__((noreturn));

namespace pando_ipupy {

constexpr unsigned kMostArrays = 16, kNameBytes = 32;

// An array whose place each vertex tells anew.
struct Relocatable {
  char name[kNameBytes];
  void* place;  // codelets write here
  void* known;  // what Python sees
  size_t elements;
};

// Of one tile: mutable globals are in its memory.
struct Interpreter {
  PandoPython python;
  bool is_alive;
  bool is_waiting;  // at longyield
  char* text;       // where print() began, and how many bytes it may fill with the zero at the end
  int text_bytes;
  char* head;  // as we left it: codelets may set IPUpy_stdout_head
  const char* input;
  void (*callback)();
  unsigned arrays;
  Relocatable array[kMostArrays];
};
inline Interpreter it = {};

inline void need_memory() {
  pando::need(pando_needs_python);
  pando::need(pando_needs_python_header);
}

inline void write(void*, const char* text, uint32_t bytes) {
  if (IPUpy_stdout_head != it.head) it.text = IPUpy_stdout_head;
  char*& head = IPUpy_stdout_head;
  if (head) {
    const long room = it.text + it.text_bytes - 1 - head;
    const uint32_t now = room <= 0 ? 0 : bytes < static_cast<uint32_t>(room) ? bytes : static_cast<uint32_t>(room);
    memcpy(head, text, now);
    head += now;
    if (room >= 0) *head = 0;
  }
  it.head = head;
}
inline void print(const char* text) { write(nullptr, text, static_cast<uint32_t>(strlen(text))); }

inline int read(void*) { return it.input && *it.input ? static_cast<unsigned char>(*it.input++) : -1; }

inline uint32_t seed(void*) {
  unsigned long long x = (pando::cycle_count() << 20 ^ (pando::tile_id() + 1ull)) * 0x9e3779b97f4a7c15ull;
  return static_cast<uint32_t>(x >> 32);
}

inline uint64_t ticks(void*) { return pando::cycle_count(); }

// Native memory as an address of the tile.
inline uint32_t address_of(const void* data, size_t bytes, const char* name) {
  const unsigned long long at = static_cast<unsigned long long>(static_cast<const char*>(data) - pando::tile_base());
  if (bytes == 0) return 64;
  if (at < pando::tile_size() && bytes <= pando::tile_size() - at) return static_cast<uint32_t>(at);
  static char message[128];
  strcpy(message, "libIPUpy: '");
  strncat(message, name, 64);
  strcat(message, "' does not lie in the tile's memory");
  pando::trap(message);
}

// Whether the call went well; else the interpreter is gone, and says why.
inline bool check(int answer) {
  if (answer != PANDO_PYTHON_ENDED) return true;
  it.is_alive = false;
  print("this tile's interpreter has ended: ");
  print(it.python.why);
  print("\n");
  return false;
}

inline void rebind() {
  for (unsigned i = 0; i < it.arrays && it.is_alive; ++i) {
    Relocatable& a = it.array[i];
    if (a.place == a.known) continue;
    a.known = a.place;
    check(pando_python_set_array(&it.python, a.name, address_of(a.place, a.elements, a.name), static_cast<uint32_t>(a.elements), 'B'));
  }
}

inline void longyield(void*) {
  it.is_waiting = true;
  if (!setjmp(IPUpy_checkpoint_env)) longjmp(IPUpy_exit_env, 1);
  it.is_waiting = false;
  rebind();
}

inline void syscall(void*) {
  if (it.callback) it.callback();
}

inline const PandoPythonHost host = {write, read, ticks, nullptr, seed, longyield, syscall};

// Before each call: is there an interpreter that can take it?
inline bool enter() {
  need_memory();
  if (it.is_waiting)
    pando::trap("libIPUpy: a program waits at longyield; go on with it by longjmp(IPUpy_checkpoint_env, 1), or begin with IPUpy_init()");
  if (!it.is_alive) return false;
  rebind();
  return it.is_alive;
}

}  // namespace pando_ipupy

using namespace pando_ipupy;

LIBRARY void IPUpy_init(char*) {
  need_memory();
  it.is_waiting = false;
  it.arrays = 0;
  it.python = {};
  it.python.base = pando::tile_base();
  it.python.size = pando::tile_size();
  it.python.host = &host;
  const pando::Reserve range = pando_needs_python.reserve;
  it.is_alive = true;
  check(pando_python_boot(&it.python, static_cast<uint32_t>(range.begin + range.bytes - pando_python_heap_begin())));
}

LIBRARY void IPUpy_deinit(void) {
  if (it.is_alive && !it.is_waiting) pando_python_shut_down(&it.python);
  it.is_alive = it.is_waiting = false;
}

LIBRARY void IPUpy_set_stdout(char* text, int size) {
  it.text = it.head = IPUpy_stdout_head = size > 0 ? text : nullptr;
  it.text_bytes = size;
  if (it.text) *it.text = 0;
}

LIBRARY void mp_hal_stdout_tx_str(const char* text) { print(text); }
LIBRARY void IPUpy_set_stdin(char* text) { it.input = text; }

LIBRARY void IPUpy_do_str(const char* source, int is_single_line) {
  if (!enter()) return;
  check(pando_python_run(&it.python, source, static_cast<uint32_t>(strlen(source)), "<stdin>", 7, is_single_line ? 1 : 0));
}

LIBRARY void IPUpy_add_int(const char* name, unsigned value) {
  if (enter()) check(pando_python_set_int(&it.python, name, static_cast<int32_t>(value)));
}

LIBRARY void IPUpy_add_memory_as_array(const char* name, void* data, size_t elements, char type) {
  if (!enter()) return;
  const uint32_t address = address_of(data, elements * (type == 'b' || type == 'B' ? 1 : 4), name);
  check(pando_python_set_array(&it.python, name, address, static_cast<uint32_t>(elements), type));
}

LIBRARY void IPUpy_add_memory_as_string(const char* name, const char* data, size_t size) {
  if (enter()) check(pando_python_set_text(&it.python, name, address_of(data, size, name), static_cast<uint32_t>(size)));
}

LIBRARY void IPUpy_add_memory_as_relocatable_array(const char* name, void*** place, size_t elements) {
  if (!enter()) return;
  if (it.arrays == kMostArrays || strlen(name) >= kNameBytes)
    pando::trap("libIPUpy: at most 16 relocatable arrays, with names of 31 characters");
  Relocatable& a = it.array[it.arrays++];
  strcpy(a.name, name);
  a.place = a.known = nullptr;
  a.elements = elements;
  *place = &a.place;
  check(pando_python_set_array(&it.python, name, 64, 0, 'B'));
}

LIBRARY void IPUpy_register_syscall_callback(void (*callback)()) { it.callback = callback; }

LIBRARY void pyexec_event_repl_init(void) {
  if (enter()) check(pando_python_prompt(&it.python));
}

LIBRARY int pyexec_event_repl_process_char(int key) {
  if (!enter()) return 0;
  const int answer = pando_python_key(&it.python, static_cast<unsigned char>(key));
  return check(answer) && answer == PANDO_PYTHON_EXITED;
}
