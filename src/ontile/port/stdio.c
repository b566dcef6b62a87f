// sys.stdin, sys.stdout and sys.stderr, and input(). Standard input comes a line at a time and may end, which MicroPython's own files
// for devices do not know.
#include "py/mperrno.h"
#include "py/mphal.h"
#include "py/runtime.h"
#include "py/stream.h"
#include "shared/readline/readline.h"

#include "host.h"

enum { kInput, kOutput, kError };
enum { kEnd = -1 };

typedef struct _sys_stdio_obj_t {
  mp_obj_base_t base;
  int number;
} stdio_t;

static const stdio_t buffers[3];

static void print_stdio(const mp_print_t *print, mp_obj_t self, mp_print_kind_t kind) {
  (void)kind;
  mp_printf(print, "<io.%s %d>", mp_obj_get_type_str(self), ((stdio_t *)MP_OBJ_TO_PTR(self))->number);
}

// The next character, or kEnd. Ctrl-C raises.
static int next(void) {
  const int c = host_read();
  if (c == CHAR_CTRL_C) {
    mp_sched_keyboard_interrupt();
    mp_handle_pending(true);
  }
  return c;
}

// What is there, up to the end of a line: those who want more come again.
static mp_uint_t read_stdio(mp_obj_t self, void *buffer, mp_uint_t size, int *error) {
  if (((stdio_t *)MP_OBJ_TO_PTR(self))->number != kInput) {
    *error = MP_EPERM;
    return MP_STREAM_ERROR;
  }
  mp_uint_t count = 0;
  while (count < size) {
    const int c = next();
    if (c == kEnd) break;
    ((byte *)buffer)[count++] = c;
    if (c == '\n') break;
  }
  return count;
}

static mp_uint_t write_stdio(mp_obj_t self, const void *text, mp_uint_t size, int *error) {
  if (((stdio_t *)MP_OBJ_TO_PTR(self))->number == kInput) {
    *error = MP_EPERM;
    return MP_STREAM_ERROR;
  }
  host_write(text, size);
  return size;
}

static mp_uint_t control_stdio(mp_obj_t self, mp_uint_t request, uintptr_t argument, int *error) {
  (void)self;
  if (request == MP_STREAM_POLL) return argument & (MP_STREAM_POLL_RD | MP_STREAM_POLL_WR);
  if (request == MP_STREAM_CLOSE || request == MP_STREAM_FLUSH) return 0;
  *error = MP_EINVAL;
  return MP_STREAM_ERROR;
}

#define METHODS                                                                 \
  {MP_ROM_QSTR(MP_QSTR_read), MP_ROM_PTR(&mp_stream_read_obj)},                 \
      {MP_ROM_QSTR(MP_QSTR_readinto), MP_ROM_PTR(&mp_stream_readinto_obj)},     \
      {MP_ROM_QSTR(MP_QSTR_readline), MP_ROM_PTR(&mp_stream_unbuffered_readline_obj)},   \
      {MP_ROM_QSTR(MP_QSTR_readlines), MP_ROM_PTR(&mp_stream_unbuffered_readlines_obj)}, \
      {MP_ROM_QSTR(MP_QSTR_write), MP_ROM_PTR(&mp_stream_write_obj)},           \
      {MP_ROM_QSTR(MP_QSTR_flush), MP_ROM_PTR(&mp_stream_flush_obj)},           \
      {MP_ROM_QSTR(MP_QSTR_close), MP_ROM_PTR(&mp_identity_obj)},               \
      {MP_ROM_QSTR(MP_QSTR___enter__), MP_ROM_PTR(&mp_identity_obj)},           \
      {MP_ROM_QSTR(MP_QSTR___exit__), MP_ROM_PTR(&mp_stream___exit___obj)}

static const mp_rom_map_elem_t bytes_table[] = {METHODS};
static MP_DEFINE_CONST_DICT(bytes_locals, bytes_table);
static const mp_stream_p_t bytes_stream = {.read = read_stdio, .write = write_stdio, .ioctl = control_stdio, .is_text = false};
static MP_DEFINE_CONST_OBJ_TYPE(bytes_type, MP_QSTR_FileIO, MP_TYPE_FLAG_ITER_IS_STREAM, print, print_stdio, protocol, &bytes_stream, locals_dict,
                                &bytes_locals);
static const stdio_t buffers[3] = {{{&bytes_type}, kInput}, {{&bytes_type}, kOutput}, {{&bytes_type}, kError}};

static void text_attribute(mp_obj_t self, qstr name, mp_obj_t *to) {
  if (to[0] != MP_OBJ_NULL) return;
  if (name == MP_QSTR_buffer) to[0] = MP_OBJ_FROM_PTR(&buffers[((stdio_t *)MP_OBJ_TO_PTR(self))->number]);
  else to[1] = MP_OBJ_SENTINEL;  // what the type has
}
static const mp_rom_map_elem_t text_table[] = {METHODS};
static MP_DEFINE_CONST_DICT(text_locals, text_table);
static const mp_stream_p_t text_stream = {.read = read_stdio, .write = write_stdio, .ioctl = control_stdio, .is_text = true};
static MP_DEFINE_CONST_OBJ_TYPE(text_type, MP_QSTR_TextIOWrapper, MP_TYPE_FLAG_ITER_IS_STREAM, print, print_stdio, protocol, &text_stream, attr,
                                text_attribute, locals_dict, &text_locals);
const stdio_t mp_sys_stdin_obj = {{&text_type}, kInput};
const stdio_t mp_sys_stdout_obj = {{&text_type}, kOutput};
const stdio_t mp_sys_stderr_obj = {{&text_type}, kError};

// For input(): no editing and no echo, those are the host's. Returns CHAR_CTRL_C, CHAR_CTRL_D at the end, or 0.
int tile_readline(vstr_t *line, const char *prompt) {
  mp_print_str(&mp_plat_print, prompt);
  for (;;) {
    const int c = host_read();
    if (c == kEnd) return CHAR_CTRL_D;
    if (c == CHAR_CTRL_C || c == '\n') return c == '\n' ? 0 : c;
    vstr_add_byte(line, c);
  }
}
