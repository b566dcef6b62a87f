#define VM_FRAME_C
#include "vm_frame.h"

#include "py/mpstate.h"

struct vm_frame *vm_frame_entered;

// As nlr_push and nlr_pop, but without calls: in this function each call costs as much as ten elsewhere.
mp_vm_return_kind_t mp_execute_bytecode(mp_code_state_t *code_state, volatile mp_obj_t inject) {
  // Volatile: these change between setjmp and its second return.
  volatile struct vm_frame frame = {.exception = NULL};
  for (;;) {
    nlr_buf_t nlr;
    nlr.prev = MP_STATE_THREAD(nlr_top);
    MP_STATE_THREAD(nlr_top) = &nlr;
    if (setjmp(nlr.jmpbuf) == 0) {
      vm_frame_entered = (struct vm_frame *)&frame;
      const mp_vm_return_kind_t kind = vm_loop(code_state, inject);
      MP_STATE_THREAD(nlr_top) = nlr.prev;
      return kind;
    }
    frame.blocks = *frame.blocks_at;
    inject = *frame.inject_at;
    frame.exception = nlr.ret_val;
  }
}
