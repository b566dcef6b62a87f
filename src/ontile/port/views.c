// Typed views of memory that is not the heap's: operands of vertices. A view belongs to its name: when another vertex has its operand
// elsewhere, the same object is pointed there, so who holds it sees the new place. Between vertices it has no elements.
#include "py/binary.h"
#include "py/objarray.h"
#include "py/runtime.h"

#include "host.h"

MP_REGISTER_ROOT_POINTER(mp_obj_t views);  // a dictionary: name -> memoryview

void EXPORT(py_set_view)(const char *name, uint32_t bytes, void *data, uint32_t elements, int type, int is_writable) {
  const mp_obj_t key = MP_OBJ_NEW_QSTR(qstr_from_strn(name, bytes));
  if (MP_STATE_VM(views) == MP_OBJ_NULL) MP_STATE_VM(views) = mp_obj_new_dict(0);
  mp_map_elem_t *const known = mp_map_lookup(mp_obj_dict_get_map(MP_STATE_VM(views)), key, MP_MAP_LOOKUP_ADD_IF_NOT_FOUND);
  const int code = is_writable ? type | MP_OBJ_ARRAY_TYPECODE_FLAG_RW : type;
  mp_obj_array_t *const view = known->value == MP_OBJ_NULL ? NULL : MP_OBJ_TO_PTR(known->value);
  if (view && (view->typecode & ~MP_OBJ_ARRAY_TYPECODE_FLAG_RW) == type) {
    view->typecode = code;
    view->items = data;
    view->len = elements;
    view->free = 0;
  } else {
    known->value = mp_obj_new_memoryview(code, elements, data);
  }
  mp_store_global(MP_OBJ_QSTR_VALUE(key), known->value);
}

void EXPORT(py_drop_views)(void) {
  if (MP_STATE_VM(views) == MP_OBJ_NULL) return;
  const mp_map_t *const all = mp_obj_dict_get_map(MP_STATE_VM(views));
  for (size_t i = 0; i < all->alloc; i++)
    if (mp_map_slot_is_filled(all, i)) ((mp_obj_array_t *)MP_OBJ_TO_PTR(all->table[i].value))->len = 0;
}

// Arrays and views of half: struct knows the type, arrays of MicroPython do not.
mp_obj_t __real_mp_binary_get_val_array(char type, void *items, size_t index);
mp_obj_t __wrap_mp_binary_get_val_array(char type, void *items, size_t index) {
  if (type != 'e') return __real_mp_binary_get_val_array(type, items, index);
  byte *at = (byte *)items + 2 * index;
  return mp_binary_get_val('<', 'e', at, &at);
}
void __real_mp_binary_set_val_array(char type, void *items, size_t index, mp_obj_t value);
void __wrap_mp_binary_set_val_array(char type, void *items, size_t index, mp_obj_t value) {
  byte *at = (byte *)items + 2 * index;
  if (type == 'e') mp_binary_set_val('<', 'e', value, at, &at);
  else __real_mp_binary_set_val_array(type, items, index, value);
}
