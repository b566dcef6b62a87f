// What the machine calls: the interpreter's life, running source text, and the names that every tile knows.
#include <string.h>

#include "py/builtin.h"
#include "py/compile.h"
#include "py/gc.h"
#include "py/mphal.h"
#include "py/objarray.h"
#include "py/objstr.h"
#include "py/repl.h"
#include "py/runtime.h"
#include "py/stackctrl.h"
#include "py/unicode.h"
#include "shared/readline/readline.h"
#include "shared/runtime/pyexec.h"

#include "exchange.h"
#include "host.h"

extern char __heap_base;

enum ending { ending_done = 0, ending_raised = 1, ending_exited = 2 };
static int exit_status;
static char *stack_top;

// The C stack lies below all data, [0, 64 KiB), and grows down; a quarter is left for C functions that do not check.
#define STACK_LIMIT (48 * 1024)

// Garbage of earlier commands is collected when there is so much of it, not when the heap is full: thousands of tiles would each come to
// need all of their memory. Within a command the heap is used as it is: who needs all of it needs it whole.
#define COLLECT_AFTER (32 * 1024)
static void collect_between_commands(void) {
  if (MP_STATE_MEM(gc_auto_collect_enabled) && MP_STATE_MEM(gc_alloc_amount) >= COLLECT_AFTER / MICROPY_BYTES_PER_GC_BLOCK) gc_collect();
}

// Roots are registers and both stacks: the C stack of this memory, and the native one, where compiled code keeps 32-bit
// addresses of its own.
void gc_collect(void) {
  char here;
  char *const from = (char *)((uintptr_t)&here & ~(uintptr_t)3);
  gc_collect_start();
  gc_collect_root((void **)from, (stack_top - from) / 4);
  host_scan_stack();
  gc_collect_end();
}

// Marks the block that `address` points at or into.
void EXPORT(py_gc_mark)(uint32_t address) {
  const mp_state_mem_area_t *const area = &MP_STATE_MEM(area);
  if (address < (uint32_t)(uintptr_t)area->gc_pool_start || address >= (uint32_t)(uintptr_t)area->gc_pool_end) return;
  size_t block = (address - (uint32_t)(uintptr_t)area->gc_pool_start) / MICROPY_BYTES_PER_GC_BLOCK;
  // Two bits a block: free 0, head 1, tail 2, marked head 3.
  while (((area->gc_alloc_table_start[block >> 2] >> ((block & 3) * 2)) & 3) == 2) block--;
  void *head = area->gc_pool_start + block * MICROPY_BYTES_PER_GC_BLOCK;
  gc_collect_root(&head, 1);
}

uint32_t EXPORT(py_heap_begin)(void) { return ((uint32_t)(uintptr_t)&__heap_base + 4095) & ~(uint32_t)4095; }

void EXPORT(py_boot)(uint32_t heap_bytes) {
  char here;
  stack_top = (char *)(((uintptr_t)&here + 64) & ~(uintptr_t)15);
  mp_stack_set_top(stack_top);
  mp_stack_set_limit(STACK_LIMIT);
  char *const heap = (char *)(uintptr_t)py_heap_begin();
  gc_init(heap, heap + heap_bytes);
  mp_init();
  readline_init0();
  exchange_init();
}
void EXPORT(py_shut_down)(void) { mp_deinit(); }

// Memory for what the machine passes in; ends the interpreter if there is none.
uint32_t EXPORT(py_allocate)(uint32_t bytes) {
  nlr_buf_t nlr;
  if (nlr_push(&nlr) != 0) return 0;
  void *const memory = m_malloc(bytes);
  nlr_pop();
  MP_STATE_PORT(passed_in) = memory;
  return (uint32_t)(uintptr_t)memory;
}
uint32_t EXPORT(py_allocated)(void) { return (uint32_t)(uintptr_t)MP_STATE_PORT(passed_in); }
void EXPORT(py_release)(void) { MP_STATE_PORT(passed_in) = NULL; }
MP_REGISTER_ROOT_POINTER(void *passed_in);

// A command for which the heap has no room: said as the exception that it is, without memory for one.
int EXPORT(py_no_room)(uint32_t bytes) {
  mp_printf(&mp_plat_print, "MemoryError: the heap has no room for a command of %u bytes\n", (unsigned)bytes);
  return ending_raised;
}

static int ending_of(mp_obj_t exception) {
  if (mp_obj_is_subclass_fast(MP_OBJ_FROM_PTR(mp_obj_get_type(exception)), MP_OBJ_FROM_PTR(&mp_type_SystemExit))) {
    const mp_obj_t value = mp_obj_exception_get_value(exception);
    mp_int_t status = 0;
    if (value != mp_const_none && !mp_obj_get_int_maybe(value, &status)) {
      mp_obj_print_helper(&mp_plat_print, value, PRINT_STR);
      mp_print_str(&mp_plat_print, "\n");
      status = 1;
    }
    exit_status = status & 0xff;
    return ending_exited;
  }
  mp_obj_print_exception(&mp_plat_print, exception);
  return ending_raised;
}

// kind: 0 a script, 1 a line at a prompt, 2 a cell. The text may lie in memory of py_allocate.
int EXPORT(py_run)(const char *source, uint32_t bytes, const char *name, uint32_t name_bytes, int kind) {
  nlr_buf_t nlr;
  exit_status = 0;
  nlr.ret_val = NULL;
  if (nlr_push(&nlr) == 0) {
    collect_between_commands();
    mp_lexer_t *const lexer = mp_lexer_new_from_str_len(qstr_from_strn(name, name_bytes), source, bytes, 0);
    const qstr source_name = lexer->source_name;
    mp_parse_tree_t tree = mp_parse(lexer, kind == 1 ? MP_PARSE_SINGLE_INPUT : MP_PARSE_FILE_INPUT);
    const mp_obj_t module = mp_compile(&tree, source_name, kind != 0);
    mp_call_function_0(module);
    mp_handle_pending(true);
    nlr_pop();
    return ending_done;
  }
  mp_handle_pending(false);
  const mp_obj_t raised = MP_OBJ_FROM_PTR(nlr.ret_val);
  // Printing may itself raise: of an exception class with a __str__ of its own.
  if (nlr_push(&nlr) == 0) {
    const int ending = ending_of(raised);
    nlr_pop();
    return ending;
  }
  mp_print_str(&mp_plat_print, "an exception that cannot be printed\n");
  return ending_raised;
}
// Closes files that nothing refers to, or all: then this interpreter's objects are gone.
void EXPORT(py_finalise)(int all) {
  nlr_buf_t nlr;
  if (nlr_push(&nlr) != 0) return;
  if (all) gc_sweep_all();
  else gc_collect();
  nlr_pop();
}

int EXPORT(py_exit_status)(void) { return exit_status; }

// After a command.
void EXPORT(py_flush)(void) {
  if (!exchange_has_unsent()) return;
  nlr_buf_t nlr;
  if (nlr_push(&nlr) == 0) {
    exchange_flush();
    nlr_pop();
  }
}

void EXPORT(py_set_int)(const char *name, uint32_t bytes, int value) {
  mp_store_global(qstr_from_strn(name, bytes), mp_obj_new_int(value));
}
// A str over [data, data + count) where it lies; bytes if it is no UTF-8.
void EXPORT(py_set_text)(const char *name, uint32_t bytes, const char *data, uint32_t count) {
  mp_obj_str_t *const text = mp_obj_malloc(mp_obj_str_t, utf8_check((const byte *)data, count) ? &mp_type_str : &mp_type_bytes);
  text->hash = qstr_compute_hash((const byte *)data, count);
  text->len = count;
  text->data = (const byte *)data;
  mp_store_global(qstr_from_strn(name, bytes), MP_OBJ_FROM_PTR(text));
}

// The event-driven prompt.
void EXPORT(py_repl_start)(void) { pyexec_event_repl_init(); }
// 0x100: the user has left; 0x200: messages wait to be received.
int EXPORT(py_repl_key)(int key) { return pyexec_event_repl_process_char(key) | (exchange_has_unsent() ? 0x200 : 0); }

int EXPORT(py_is_complete)(const char *source) { return !mp_repl_continue_with_input(source); }
// Candidates go to standard output. Returns how many bytes to insert, with *insert pointing at them; -1: there are several ways.
int EXPORT(py_complete)(const char *line, uint32_t bytes, const char **insert) {
  const size_t found = mp_repl_autocomplete(line, bytes, &mp_plat_print, insert);
  return found == (size_t)-1 ? -1 : (int)found;
}

void EXPORT(py_interrupt)(void) { mp_sched_keyboard_interrupt(); }
int EXPORT(py_is_interrupted)(void) { return MP_STATE_MAIN_THREAD(mp_pending_exception) != MP_OBJ_NULL; }
