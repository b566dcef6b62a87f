#include "pack.h"

#include <string.h>

#include "py/binary.h"
#include "py/builtin.h"
#include "py/objarray.h"
#include "py/objint.h"
#include "py/objstr.h"
#include "py/objtuple.h"
#include "py/objtype.h"
#include "py/runtime.h"
#include "py/smallint.h"

// One byte says what follows. Below kTags: an int from -32 to 95.
enum {
  kTags = 0x80,
  kNone = kTags,
  kTrue,
  kFalse,
  kEllipsis,
  kInt,        // zigzag, 7 bits a byte
  kBigInt,     // 1 if negative, count of bytes, the little-endian magnitude
  kFloat,      // 8 bytes
  kComplex,    // 16 bytes
  kStr,        // count, bytes
  kBytes,
  kByteArray,
  kArray,      // type code, count of bytes, bytes
  kTuple,      // count, objects
  kList,
  kSet,
  kFrozenSet,
  kDict,       // count, pairs
  kRange,      // three objects
  kName,       // a global or built-in name: functions, classes, modules
  kInstance,   // the class, its attributes as a dict, and the value of its native base or None
  kException,  // the class, its arguments as a tuple
  kTupleClass, // the class of a named tuple, its items
};
enum { kDeepest = 60, kSmallest = -32, kLargest = 95 };

static void put(message_t *m, const void *bytes, size_t count) { vstr_add_strn(&m->head, bytes, count); }
static void put_tag(message_t *m, int tag) { vstr_add_byte(&m->head, (byte)tag); }
static void put_count(message_t *m, uint32_t count) {
  for (; count >= 0x80; count >>= 7) vstr_add_byte(&m->head, (byte)(count | 0x80));
  vstr_add_byte(&m->head, (byte)count);
}
static void put_blob(message_t *m, int tag, const void *bytes, size_t count) {
  put_tag(m, tag);
  put_count(m, count);
  put(m, bytes, count);
}

static void pack_at(message_t *m, mp_obj_t object, int depth);

static void pack_int(message_t *m, mp_obj_t object) {
  if (mp_obj_is_small_int(object)) {
    const mp_int_t value = MP_OBJ_SMALL_INT_VALUE(object);
    if (value >= kSmallest && value <= kLargest) return put_tag(m, (int)(value - kSmallest));
    put_tag(m, kInt);
    return put_count(m, ((uint32_t)value << 1) ^ (uint32_t)(value >> 31));
  }
  const bool negative = mp_obj_int_sign(object) < 0;
  const mp_obj_int_t *const big = MP_OBJ_TO_PTR(negative ? mp_unary_op(MP_UNARY_OP_NEGATIVE, object) : object);
  const size_t count = big->mpz.len * sizeof(mpz_dig_t) + 1;
  put_tag(m, kBigInt);
  put_tag(m, negative);
  put_count(m, count);
  char *const at = vstr_add_len(&m->head, count);
  mpz_as_bytes(&big->mpz, false, false, count, (byte *)at);
}

static void pack_items(message_t *m, int tag, size_t count, const mp_obj_t *items, int depth) {
  put_tag(m, tag);
  put_count(m, count);
  for (size_t i = 0; i < count; i++) pack_at(m, items[i], depth + 1);
}

static void pack_map(message_t *m, const mp_map_t *map, int depth) {
  put_tag(m, kDict);
  put_count(m, map->used);
  for (size_t i = 0; i < map->alloc; i++) {
    if (!mp_map_slot_is_filled(map, i)) continue;
    pack_at(m, map->table[i].key, depth + 1);
    pack_at(m, map->table[i].value, depth + 1);
  }
}

// A name by which the receiver finds the same thing: in its globals, or built in.
static bool pack_name(message_t *m, qstr name, mp_obj_t object) {
  const mp_obj_t key = MP_OBJ_NEW_QSTR(name);
  const mp_map_elem_t *found = mp_map_lookup(&MP_STATE_VM(dict_main).map, key, MP_MAP_LOOKUP);
  if (!found) found = mp_map_lookup(&mp_module_builtins.globals->map, key, MP_MAP_LOOKUP);
  if (!found || found->value != object) return false;
  size_t bytes;
  const byte *const text = qstr_data(name, &bytes);
  put_blob(m, kName, text, bytes);
  return true;
}

static NORETURN void reject(mp_obj_t object) {
  mp_raise_msg_varg(&mp_type_TypeError, MP_ERROR_TEXT("cannot send '%s' to another tile"), mp_obj_get_type_str(object));
}

static void pack_class(message_t *m, const mp_obj_type_t *type, mp_obj_t object) {
  if (!pack_name(m, type->name, MP_OBJ_FROM_PTR(type))) reject(object);
}

// The built-in class that a class of Python extends (other than object), or null.
static const mp_obj_type_t *native_base(const mp_obj_type_t *type) {
  if (!mp_obj_is_instance_type(type)) return type == &mp_type_object ? NULL : type;
  const void *const parent = MP_OBJ_TYPE_GET_SLOT_OR_NULL(type, parent);
  if (!parent) return NULL;
  if (((const mp_obj_base_t *)parent)->type != &mp_type_tuple) return native_base(parent);
  const mp_obj_tuple_t *const parents = parent;
  for (size_t i = 0; i < parents->len; i++) {
    const mp_obj_type_t *const found = native_base(MP_OBJ_TO_PTR(parents->items[i]));
    if (found) return found;
  }
  return NULL;
}

static void pack_instance(message_t *m, mp_obj_t object, const mp_obj_type_t *type, int depth) {
  mp_obj_instance_t *const self = MP_OBJ_TO_PTR(object);
  const mp_obj_type_t *const base = native_base(type);
  put_tag(m, kInstance);
  pack_class(m, type, object);
  pack_map(m, &self->members, depth);
  if (!base) return put_tag(m, kNone);
  if (mp_obj_is_subclass_fast(MP_OBJ_FROM_PTR(base), MP_OBJ_FROM_PTR(&mp_type_BaseException)) && self->subobj[0] != MP_OBJ_NULL) {
    mp_obj_t dest[2];
    mp_load_method_maybe(self->subobj[0], MP_QSTR_args, dest);
    return pack_at(m, dest[0], depth + 1);
  }
  pack_at(m, self->subobj[0], depth + 1);
}

static void pack_at(message_t *m, mp_obj_t object, int depth) {
  if (depth > kDeepest) mp_raise_msg(&mp_type_RuntimeError, MP_ERROR_TEXT("an object to send is nested too deeply, or contains itself"));
  if (object == mp_const_none) return put_tag(m, kNone);
  if (object == mp_const_true) return put_tag(m, kTrue);
  if (object == mp_const_false) return put_tag(m, kFalse);
  if (object == MP_OBJ_FROM_PTR(&mp_const_ellipsis_obj)) return put_tag(m, kEllipsis);
  if (mp_obj_is_int(object)) return pack_int(m, object);
  const mp_obj_type_t *const type = mp_obj_get_type(object);
  if (type == &mp_type_float) {
    const double value = mp_obj_get_float(object);
    put_tag(m, kFloat);
    return put(m, &value, sizeof(value));
  }
  if (type == &mp_type_complex) {
    mp_float_t parts[2];
    mp_obj_get_complex(object, &parts[0], &parts[1]);
    put_tag(m, kComplex);
    return put(m, parts, sizeof(parts));
  }
  mp_buffer_info_t buffer;
  if (mp_obj_is_str(object) || type == &mp_type_bytes) {
    mp_get_buffer_raise(object, &buffer, MP_BUFFER_READ);
    return put_blob(m, type == &mp_type_bytes ? kBytes : kStr, buffer.buf, buffer.len);
  }
  if (type == &mp_type_bytearray || type == &mp_type_array || type == &mp_type_memoryview) {
    mp_get_buffer_raise(object, &buffer, MP_BUFFER_READ);
    put_tag(m, kArray);
    put_tag(m, type == &mp_type_bytearray ? 0 : buffer.typecode);
    put_count(m, buffer.len);
    if (depth > 0) return put(m, buffer.buf, buffer.len);
    m->raw = buffer.buf;
    m->raw_bytes = buffer.len;
    m->keeps_raw = object;
    return;
  }
  size_t count;
  mp_obj_t *items;
  if (type == &mp_type_tuple || type == &mp_type_list) {
    mp_obj_get_array(object, &count, &items);
    return pack_items(m, type == &mp_type_list ? kList : kTuple, count, items, depth);
  }
  if (type == &mp_type_dict) return pack_map(m, mp_obj_dict_get_map(object), depth);
  if (type == &mp_type_set || type == &mp_type_frozenset) {
    put_tag(m, type == &mp_type_set ? kSet : kFrozenSet);
    put_count(m, (uint32_t)MP_OBJ_SMALL_INT_VALUE(mp_obj_len(object)));
    mp_obj_iter_buf_t buf;
    const mp_obj_t iterator = mp_getiter(object, &buf);
    for (mp_obj_t item; (item = mp_iternext(iterator)) != MP_OBJ_STOP_ITERATION;) pack_at(m, item, depth + 1);
    return;
  }
  if (type == &mp_type_range) {
    put_tag(m, kRange);
    for (const qstr *name = (const qstr[]){MP_QSTR_start, MP_QSTR_stop, MP_QSTR_step, 0}; *name; name++) pack_at(m, mp_load_attr(object, *name), depth + 1);
    return;
  }
  if (mp_obj_is_native_exception_instance(object)) {
    put_tag(m, kException);
    pack_class(m, type, object);
    return pack_at(m, mp_load_attr(object, MP_QSTR_args), depth + 1);
  }
  if (type == &mp_type_type) {
    if (pack_name(m, ((const mp_obj_type_t *)MP_OBJ_TO_PTR(object))->name, object)) return;
    reject(object);
  }
  if (mp_obj_is_instance_type(type)) return pack_instance(m, object, type, depth);
  if (MP_OBJ_TYPE_GET_SLOT_OR_NULL(type, iter) == mp_obj_tuple_getiter) {
    put_tag(m, kTupleClass);
    pack_class(m, type, object);
    const mp_obj_tuple_t *const named = MP_OBJ_TO_PTR(object);
    return pack_items(m, kTuple, named->len, named->items, depth);
  }
  if (mp_obj_is_fun(object)) {
    mp_obj_t dest[2];
    mp_load_method_maybe(object, MP_QSTR___name__, dest);
    if (dest[0] != MP_OBJ_NULL && dest[1] == MP_OBJ_NULL && pack_name(m, mp_obj_str_get_qstr(dest[0]), object)) return;
    // Built-in functions do not know their names.
    const mp_map_t *const built_in = &mp_module_builtins.globals->map;
    for (size_t i = 0; i < built_in->alloc; i++)
      if (built_in->table[i].value == object && pack_name(m, mp_obj_str_get_qstr(built_in->table[i].key), object)) return;
  }
  reject(object);
}

void pack(message_t *message, mp_obj_t object) {
  vstr_init(&message->head, 16);
  message->raw = NULL;
  message->raw_bytes = 0;
  message->keeps_raw = MP_OBJ_NULL;
  pack_at(message, object, 0);
}

// --- back -------------------------------------------------------------------------------------------------------------

typedef struct _reader_t {
  const byte *at, *end;
} reader_t;

static NORETURN void broken(void) { mp_raise_msg(&mp_type_RuntimeError, MP_ERROR_TEXT("a message from another tile is broken")); }

static const byte *take(reader_t *r, uint32_t count) {
  if ((uint32_t)(r->end - r->at) < count) broken();
  r->at += count;
  return r->at - count;
}
static uint32_t take_count(reader_t *r) {
  uint32_t count = 0;
  for (int shift = 0; shift < 35; shift += 7) {
    const byte b = *take(r, 1);
    count |= (uint32_t)(b & 0x7f) << shift;
    if (b < 0x80) return count;
  }
  broken();
}

static mp_obj_t read_object(reader_t *r);

static mp_obj_t read_name(reader_t *r) {
  const uint32_t count = take_count(r);
  const qstr name = qstr_from_strn((const char *)take(r, count), count);
  const mp_obj_t key = MP_OBJ_NEW_QSTR(name);
  const mp_map_elem_t *found = mp_map_lookup(&MP_STATE_VM(dict_main).map, key, MP_MAP_LOOKUP);
  if (!found) found = mp_map_lookup(&mp_module_builtins.globals->map, key, MP_MAP_LOOKUP);
  if (!found) mp_raise_msg_varg(&mp_type_NameError, MP_ERROR_TEXT("another tile sent '%q', which this one does not have"), name);
  return found->value;
}

static mp_obj_t new_array(byte code, uint32_t bytes, char **items) {
  if (code == 0) {
    *items = m_new(char, bytes ? bytes : 1);
    return mp_obj_new_bytearray_by_ref(bytes, *items);
  }
  size_t align;
  const size_t size = mp_binary_get_size('@', (char)code, &align);
  mp_obj_array_t *const array = mp_obj_malloc(mp_obj_array_t, &mp_type_array);
  array->typecode = code;
  array->free = 0;
  array->len = bytes / size;
  array->items = m_new(byte, bytes ? bytes : 1);
  *items = array->items;
  return MP_OBJ_FROM_PTR(array);
}

static mp_obj_t read_tuple(reader_t *r) {
  const mp_obj_t tuple = read_object(r);
  if (!mp_obj_is_type(tuple, &mp_type_tuple)) broken();
  return tuple;
}

static mp_obj_t read_instance(reader_t *r) {
  const mp_obj_t class = read_object(r);
  const mp_obj_t members = read_object(r);
  const mp_obj_t base_value = read_object(r);
  if (!mp_obj_is_type(class, &mp_type_type) || !mp_obj_is_instance_type((const mp_obj_type_t *)MP_OBJ_TO_PTR(class)) || !mp_obj_is_dict_or_ordereddict(members)) broken();
  const mp_obj_type_t *base = NULL;
  mp_obj_instance_t *const self = mp_obj_new_instance(MP_OBJ_TO_PTR(class), &base);
  if (base) {
    size_t count = 1;
    const mp_obj_t *arguments = &base_value;
    if (mp_obj_is_subclass_fast(MP_OBJ_FROM_PTR(base), MP_OBJ_FROM_PTR(&mp_type_BaseException))) mp_obj_get_array(base_value, &count, (mp_obj_t **)&arguments);
    self->subobj[0] = MP_OBJ_TYPE_GET_SLOT(base, make_new)(base, count, 0, arguments);
  }
  const mp_map_t *const map = mp_obj_dict_get_map(members);
  for (size_t i = 0; i < map->alloc; i++)
    if (mp_map_slot_is_filled(map, i)) mp_map_lookup(&self->members, map->table[i].key, MP_MAP_LOOKUP_ADD_IF_NOT_FOUND)->value = map->table[i].value;
  return MP_OBJ_FROM_PTR(self);
}

static mp_obj_t read_object(reader_t *r) {
  const int tag = *take(r, 1);
  if (tag < kTags) return MP_OBJ_NEW_SMALL_INT(tag + kSmallest);
  uint32_t count;
  switch (tag) {
    case kNone: return mp_const_none;
    case kTrue: return mp_const_true;
    case kFalse: return mp_const_false;
    case kEllipsis: return MP_OBJ_FROM_PTR(&mp_const_ellipsis_obj);
    case kInt: count = take_count(r); return mp_obj_new_int((int32_t)(count >> 1) ^ -(int32_t)(count & 1));
    case kBigInt: {
      const bool negative = *take(r, 1) != 0;
      count = take_count(r);
      const mp_obj_t size = mp_obj_int_from_bytes_impl(false, count, take(r, count));
      return negative ? mp_unary_op(MP_UNARY_OP_NEGATIVE, size) : size;
    }
    case kFloat: {
      double value;
      memcpy(&value, take(r, sizeof(value)), sizeof(value));
      return mp_obj_new_float(value);
    }
    case kComplex: {
      double parts[2];
      memcpy(parts, take(r, sizeof(parts)), sizeof(parts));
      return mp_obj_new_complex(parts[0], parts[1]);
    }
    case kStr: count = take_count(r); return mp_obj_new_str((const char *)take(r, count), count);
    case kBytes: count = take_count(r); return mp_obj_new_bytes(take(r, count), count);
    case kArray: {
      const byte code = *take(r, 1);
      char *items;
      count = take_count(r);
      const byte *const from = take(r, count);
      const mp_obj_t array = new_array(code, count, &items);
      memcpy(items, from, count);
      return array;
    }
    case kTuple:
    case kList: {
      count = take_count(r);
      if (count > (uint32_t)(r->end - r->at)) broken();
      const mp_obj_t list = tag == kList ? mp_obj_new_list(count, NULL) : mp_obj_new_tuple(count, NULL);
      size_t length;
      mp_obj_t *items;
      mp_obj_get_array(list, &length, &items);
      for (uint32_t i = 0; i < count; i++) items[i] = mp_const_none;
      for (uint32_t i = 0; i < count; i++) items[i] = read_object(r);
      return count == 0 && tag == kTuple ? mp_const_empty_tuple : list;
    }
    case kSet:
    case kFrozenSet: {
      count = take_count(r);
      const mp_obj_t set = mp_obj_new_set(0, NULL);
      for (uint32_t i = 0; i < count; i++) mp_obj_set_store(set, read_object(r));
      return tag == kSet ? set : mp_call_function_1(MP_OBJ_FROM_PTR(&mp_type_frozenset), set);
    }
    case kDict: {
      count = take_count(r);
      const mp_obj_t dict = mp_obj_new_dict(0);
      for (uint32_t i = 0; i < count; i++) {
        const mp_obj_t key = read_object(r);
        mp_obj_dict_store(dict, key, read_object(r));
      }
      return dict;
    }
    case kRange: {
      mp_obj_t bounds[3];
      for (int i = 0; i < 3; i++) bounds[i] = read_object(r);
      return mp_call_function_n_kw(MP_OBJ_FROM_PTR(&mp_type_range), 3, 0, bounds);
    }
    case kName: return read_name(r);
    case kInstance: return read_instance(r);
    case kException:
    case kTupleClass: {
      const mp_obj_t class = read_object(r);
      const mp_obj_t tuple = read_tuple(r);
      size_t length;
      mp_obj_t *items;
      mp_obj_get_array(tuple, &length, &items);
      return mp_call_function_n_kw(class, length, 0, items);
    }
  }
  broken();
}

mp_obj_t unpack_array_head(const char *bytes, uint32_t count, uint32_t whole, uint32_t *head_bytes, char **items) {
  reader_t r = {(const byte *)bytes, (const byte *)bytes + count};
  if (count < 7 || *take(&r, 1) != kArray) return MP_OBJ_NULL;
  const byte code = *take(&r, 1);
  const uint32_t array_bytes = take_count(&r);
  *head_bytes = (uint32_t)(r.at - (const byte *)bytes);
  if (*head_bytes + array_bytes != whole) return MP_OBJ_NULL;
  return new_array(code, array_bytes, items);
}

mp_obj_t unpack(const char *bytes, uint32_t count) {
  reader_t r = {(const byte *)bytes, (const byte *)bytes + count};
  const mp_obj_t object = read_object(&r);
  if (r.at != r.end) broken();
  return object;
}
