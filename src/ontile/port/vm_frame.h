// How the bytecode loop catches exceptions without a setjmp of its own. Included before py/vm.c.
//
// A function that calls setjmp makes each of its calls through the host (runtime/calls.cpp), and the loop of the virtual machine calls
// something for nearly every bytecode. So the loop does not call setjmp: mp_execute_bytecode (vm_frame.c) does, once for a Python
// function, and calls the loop. After an exception it calls the loop again, which goes to its handler at once, with the two
// variables that the handler needs as they were: they are volatile, so they lie in the left frame, which nothing has overwritten yet.
#pragma once

#include "py/bc.h"
#include "py/nlr.h"
#include "py/runtime.h"

struct vm_frame {
  void *exception;                       // the loop begins with its handler, for this; or null
  mp_exc_stack_t *blocks;                // then: the innermost block that handles exceptions
  mp_exc_stack_t *volatile *blocks_at;   // where the loop keeps it
  volatile mp_obj_t *inject_at;          // and the exception to inject
};
extern struct vm_frame *vm_frame_entered;
mp_vm_return_kind_t vm_loop(mp_code_state_t *code_state, volatile mp_obj_t inject);

static inline unsigned vm_frame_begin(struct vm_frame *frame, nlr_buf_t *nlr, mp_exc_stack_t *volatile *blocks, volatile mp_obj_t *inject) {
  frame->blocks_at = blocks;
  frame->inject_at = inject;
  if (!frame->exception) return 0;
  nlr->ret_val = frame->exception;
  frame->exception = NULL;
  return 1;
}

#ifndef VM_FRAME_C
#undef MICROPY_WRAP_MP_EXECUTE_BYTECODE
#define MICROPY_WRAP_MP_EXECUTE_BYTECODE(f) vm_loop
// Ends the declaration of the loop's exc_sp, and begins one of its frame.
#undef MP_CODE_STATE_EXC_SP_IDX_TO_PTR
#define MP_CODE_STATE_EXC_SP_IDX_TO_PTR(exc_stack, exc_sp_idx)                                                        \
  vm_frame_entered->exception ? vm_frame_entered->blocks : (exc_stack) + (exc_sp_idx) - 1;                            \
  struct vm_frame *const vm_frame = vm_frame_entered
#undef nlr_push
#define nlr_push(buf) vm_frame_begin(vm_frame, buf, &exc_sp, &inject_exc)
#define nlr_pop() ((void)0)
#endif
