// os.urandom: included by extmod/modos.c. The numbers differ from tile to tile and are the same in each run.
#include "py/objstr.h"
#include "py/runtime.h"

static mp_obj_t mp_os_urandom(mp_obj_t count) {
  const mp_int_t bytes = mp_obj_get_int(count);
  if (bytes < 0) mp_raise_ValueError(NULL);
  vstr_t text;
  vstr_init_len(&text, bytes);
  for (mp_int_t i = 0; i < bytes; i++) text.buf[i] = (char)(tile_seed() >> 8);
  return mp_obj_new_bytes_from_vstr(&text);
}
static MP_DEFINE_CONST_FUN_OBJ_1(mp_os_urandom_obj, mp_os_urandom);
