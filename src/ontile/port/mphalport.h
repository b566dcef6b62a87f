#pragma once
#include "py/mpconfig.h"
static inline void mp_hal_set_interrupt_char(int c) { (void)c; }
