// Looking a name up, without divisions: a name that is no global is looked for in each function that calls len(), and the more of
// the table is taken, the longer that lasts. All else is MicroPython's own lookup, whose tables and cache these are.
#include "py/obj.h"
#include "py/qstr.h"
#include "py/runtime.h"

mp_map_elem_t *__real_mp_map_lookup(mp_map_t *map, mp_obj_t index, mp_map_lookup_kind_t kind);

mp_map_elem_t *__wrap_mp_map_lookup(mp_map_t *map, mp_obj_t index, mp_map_lookup_kind_t kind) {
  if (kind == MP_MAP_LOOKUP_REMOVE_IF_FOUND || map->alloc == 0) return __real_mp_map_lookup(map, index, kind);
  uint8_t *const last_place = &MP_STATE_VM(map_lookup_cache)[((uintptr_t)index >> 2) % MICROPY_OPT_MAP_LOOKUP_CACHE_SIZE];
  const size_t place = *last_place;
  mp_map_elem_t *const table = map->table;
  if (place < map->alloc && table[place].key == index) return &table[place];
  if (kind != MP_MAP_LOOKUP || map->is_ordered || !map->all_keys_are_qstrs || !mp_obj_is_qstr(index)) return __real_mp_map_lookup(map, index, kind);
  const size_t first = qstr_hash(MP_OBJ_QSTR_VALUE(index)) % map->alloc;
  size_t at = first;
  do {
    if (table[at].key == index) {
      *last_place = (uint8_t)at;
      return &table[at];
    }
    if (table[at].key == MP_OBJ_NULL) return NULL;
    if (++at == map->alloc) at = 0;
  } while (at != first);
  return NULL;
}
