// The clock of module time: included by extmod/modtime.c.
#include "py/mphal.h"
#include "shared/timeutils/timeutils.h"

static mp_obj_t mp_time_localtime_get(void) {
  timeutils_struct_time_t now;
  timeutils_seconds_since_epoch_to_struct_time(mp_hal_time_ns() / 1000000000ULL, &now);
  const mp_obj_t fields[] = {
      MP_OBJ_NEW_SMALL_INT(now.tm_year), MP_OBJ_NEW_SMALL_INT(now.tm_mon),  MP_OBJ_NEW_SMALL_INT(now.tm_mday),
      MP_OBJ_NEW_SMALL_INT(now.tm_hour), MP_OBJ_NEW_SMALL_INT(now.tm_min),  MP_OBJ_NEW_SMALL_INT(now.tm_sec),
      MP_OBJ_NEW_SMALL_INT(now.tm_wday), MP_OBJ_NEW_SMALL_INT(now.tm_yday),
  };
  return mp_obj_new_tuple(MP_ARRAY_SIZE(fields), fields);
}

// Times may be fractions of seconds, as time() tells them: in the functions of the file that includes this one.
static mp_int_t whole_seconds(mp_obj_t time) {
  return mp_obj_is_float(time) ? (mp_int_t)mp_obj_get_float(time) : mp_obj_get_int(time);
}
#define mp_obj_get_int whole_seconds

static mp_obj_t mp_time_time_get(void) { return mp_obj_new_float(mp_hal_time_ns() / 1e9); }
