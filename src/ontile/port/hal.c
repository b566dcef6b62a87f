// Characters, time and random numbers, and how an interpreter ends.
#include <string.h>

#include "py/builtin.h"
#include "py/mphal.h"
#include "py/runtime.h"
#include "py/stream.h"

#include "host.h"

unsigned tile_seed(void) { return host_seed(); }

void mp_hal_stdout_tx_strn_cooked(const char *text, size_t n) { host_write(text, n); }
mp_uint_t mp_hal_stdout_tx_strn(const char *text, size_t n) {
  host_write(text, n);
  return n;
}
void mp_hal_stdout_tx_str(const char *text) { host_write(text, strlen(text)); }
int mp_hal_stdin_rx_chr(void) {
  const int c = host_read();
  return c < 0 ? 4 : c;  // Ctrl-D ends a line of input
}
uintptr_t mp_hal_stdio_poll(uintptr_t flags) { return flags & (MP_STREAM_POLL_RD | MP_STREAM_POLL_WR); }

mp_uint_t mp_hal_ticks_us(void) { return (mp_uint_t)host_ticks_us(); }
mp_uint_t mp_hal_ticks_ms(void) { return (mp_uint_t)(host_ticks_us() / 1000); }
mp_uint_t mp_hal_ticks_cpu(void) { return (mp_uint_t)host_ticks_us(); }
uint64_t mp_hal_time_ns(void) { return host_time_ns(); }
void mp_hal_delay_us(mp_uint_t us) {
  const uint64_t end = host_ticks_us() + us;
  while (host_ticks_us() < end) mp_handle_pending(true);
}
void mp_hal_delay_ms(mp_uint_t ms) { mp_hal_delay_us(ms * 1000); }

static void fatal(const char *why) { host_fatal(why, strlen(why)); }

void nlr_jump_fail(void *value) {
  (void)value;
  fatal("an exception that nothing could catch (no memory is left)");
  __builtin_trap();
}
void __assert_fail(const char *what, const char *file, int line, const char *function) {
  (void)file;
  (void)line;
  (void)function;
  fatal(what);
  __builtin_trap();
}
void abort(void) {
  fatal("abort()");
  __builtin_trap();
}
