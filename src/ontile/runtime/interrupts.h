// What reaches a running command from outside of the program: Ctrl-C and clocks. C functions of libpando_python.
#pragma once

#include <cstdint>

#include "ontile/runtime/python.h"

extern "C" {
// Interrupts so far of the session with this slot, and when its command began.
PANDO_PYTHON_EXPORT unsigned pando_python_interrupts(unsigned slot);
PANDO_PYTHON_EXPORT unsigned pando_python_interrupts_at_start(unsigned slot);
// Called by the session. pando_python_interrupt may be called from a signal handler; it counts only between begin and end.
PANDO_PYTHON_EXPORT unsigned pando_python_new_slot();
PANDO_PYTHON_EXPORT void pando_python_begin_command(unsigned slot);
PANDO_PYTHON_EXPORT void pando_python_end_command(unsigned slot);
PANDO_PYTHON_EXPORT void pando_python_interrupt(unsigned slot);

// A step lasts until each tile waits or is done. From the moment on that the session says here (0: never), tiles wait when they next look.
PANDO_PYTHON_EXPORT void pando_python_begin_step(unsigned slot, uint64_t until_us);
PANDO_PYTHON_EXPORT int pando_python_step_is_long(unsigned slot);

PANDO_PYTHON_EXPORT uint64_t pando_python_clock_us(void*);  // since some moment
PANDO_PYTHON_EXPORT uint64_t pando_python_clock_ns(void*);  // since 1970
}
