#pragma once
#include "py/mpconfig.h"
struct _vstr_t;
int tile_readline(struct _vstr_t *line, const char *prompt);
#define mp_hal_readline tile_readline
static inline void mp_hal_set_interrupt_char(int c) { (void)c; }
