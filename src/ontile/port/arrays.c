// Arrays over memory that is not the heap's: they are array.array, as IPUpy's are, and can shrink and grow again within what they
// were given. Growing beyond that is a MemoryError: the heap does not know their memory.
#include "py/gc.h"
#include "py/mpstate.h"
#include "py/objarray.h"
#include "py/runtime.h"

#include "host.h"

// An existing array of that name and type is pointed to the data: who holds it sees the new place.
void EXPORT(py_set_array)(const char *name, uint32_t bytes, void *data, uint32_t elements, int type) {
  const qstr key = qstr_from_strn(name, bytes);
  mp_map_elem_t *const known = mp_map_lookup(&mp_globals_get()->map, MP_OBJ_NEW_QSTR(key), MP_MAP_LOOKUP);
  const bool is_array = known && mp_obj_is_type(known->value, &mp_type_array) && ((mp_obj_array_t *)MP_OBJ_TO_PTR(known->value))->typecode == type;
  mp_obj_array_t *const array = is_array ? MP_OBJ_TO_PTR(known->value) : m_new_obj(mp_obj_array_t);
  array->base.type = &mp_type_array;
  array->typecode = type;
  array->free = 0;
  array->len = elements;
  array->items = data;
  if (!is_array) mp_store_global(key, MP_OBJ_FROM_PTR(array));
}

void *__real_gc_realloc(void *memory, size_t bytes, bool allow_move);
#ifdef GC_STRESS
void collect_at_times(void);
#else
static inline void collect_at_times(void) {}
#endif
void *__wrap_gc_realloc(void *memory, size_t bytes, bool allow_move) {
  collect_at_times();
  const mp_state_mem_area_t *const area = &MP_STATE_MEM(area);
  const bool ours = memory == NULL || ((byte *)memory >= area->gc_pool_start && (byte *)memory < area->gc_pool_end);
  return ours ? __real_gc_realloc(memory, bytes, allow_move) : NULL;
}
