// Recursion ends with a RuntimeError before either stack does: the C stack of this memory, and the native one under compiled code. A
// function of few variables, as the matcher of regular expressions, only uses the native one.
#include "py/cstack.h"
#include "py/runtime.h"

#include "host.h"

#define NATIVE_RESERVE (64 * 1024)  // for C functions that do not check

void __real_mp_cstack_check(void);
void __wrap_mp_cstack_check(void) {
  if (host_stack_left() < NATIVE_RESERVE) mp_raise_recursion_depth();
  __real_mp_cstack_check();
}
