// What clang's lowering of setjmp and longjmp calls. Compiled without that lowering: it would rename these functions.
// A longjmp leaves the native frames through the host; the `invoke_*` function that called into them goes on (runtime/calls.cpp).
#include <stdint.h>

#include "host.h"

int __THREW__, __threwValue;

// What setjmp writes into its buffer: which activation of which call of setjmp.
struct jump_target {
  void *activation;
  unsigned label;
};

void setThrew(int threw, int value) {
  if (__THREW__ == 0) {
    __THREW__ = threw;
    __threwValue = value;
  }
}

void __wasm_setjmp(void *buffer, unsigned label, void *activation) {
  struct jump_target *const target = buffer;
  target->activation = activation;
  target->label = label;
}

unsigned __wasm_setjmp_test(void *buffer, void *activation) {
  const struct jump_target *const target = buffer;
  return target->activation == activation ? target->label : 0;
}

void emscripten_longjmp(uintptr_t buffer, int value) {
  setThrew((int)buffer, value);
  host_throw();
}

static int second_result;
void setTempRet0(int value) { second_result = value; }
int getTempRet0(void) { return second_result; }
