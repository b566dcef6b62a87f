// A Python interpreter in the tile's memory, for codelets: link them with libIPUpy.gp.
//
//   void compute() {
//     IPUpy_set_stdout(&text[0], text.size());
//     IPUpy_init((char *)__builtin_frame_address(0));
//     IPUpy_add_memory_as_array("x", &x[0], x.size(), 'f');       // x is a field: Python sees its elements, nothing is copied
//     IPUpy_do_str("print(sum(x))\n", 0);
//     IPUpy_deinit();
//   }
//
// There is one interpreter per tile. It keeps its state between vertices, until IPUpy_deinit().
//
// A program's statement `longyield` leaves the vertex: it does longjmp(IPUpy_exit_env, 1), which the codelet has set, and goes on
// when a later vertex does longjmp(IPUpy_checkpoint_env, 1). Both are of the type jmp_buf, which codelets declare or take from
// <setjmp.h>:  extern "C" jmp_buf IPUpy_exit_env, IPUpy_checkpoint_env;
#ifndef PANDO_LIBIPUPY_HPP
#define PANDO_LIBIPUPY_HPP

#include <stddef.h>
#include <poplar/StackSizeDefs.hpp>

extern "C" {

/// Makes the interpreter of this tile anew. The argument, the bottom of the stack, is not needed.
void IPUpy_init(char* stack_bottom);
void IPUpy_deinit(void);

/// Where print() and messages go from now on: at most `size` - 1 bytes and a zero. Each call starts at `text` again. With null
/// they are dropped.
void IPUpy_set_stdout(char* text, int size);
/// The place of the next byte that is printed.
extern char* IPUpy_stdout_head;
/// Prints.
void mp_hal_stdout_tx_str(const char* text);
/// What input() and sys.stdin read: bytes up to a zero.
void IPUpy_set_stdin(char* text);

/// Runs a program; with `is_single_line` one statement, whose value is printed. An exception that comes to the top is printed.
void IPUpy_do_str(const char* source, int is_single_line);

/// A global variable with an integer.
void IPUpy_add_int(const char* name, unsigned value);
/// A global array over memory of the tile: `type` is 'i' (int), 'f' (float) or 'b' (signed char).
void IPUpy_add_memory_as_array(const char* name, void* data, size_t elements, char type);
/// A global string over memory of the tile.
void IPUpy_add_memory_as_string(const char* name, const char* data, size_t size);
/// An array of bytes whose memory may lie elsewhere in each compute set: each vertex writes the address to **place before it
/// calls the interpreter.
void IPUpy_add_memory_as_relocatable_array(const char* name, void*** place, size_t elements);

/// What the statement `ipusyscall` calls.
void IPUpy_register_syscall_callback(void (*callback)());

/// A prompt that is given one key at a time: echo, history, completion, continuation lines. The result is not 0 when the user
/// ends it (Ctrl-D at an empty prompt).
void pyexec_event_repl_init(void);
int pyexec_event_repl_process_char(int key);

}  // extern "C"

#endif
