// Files in tile memory: block devices for littlefs, and the tile's own disk, which is mounted at '/' when it is first used.
//
//   disk = tile.TensorBlockDevice(view)          blocks in any memory that can be written: a region of the tile, a bytearray
//   vfs.VfsLfs2.mkfs(disk); vfs.mount(vfs.VfsLfs2(disk), '/ram')
//
// The tile's own disk is a region outside of the Python heap, of which the machine keeps a copy. A bit per block says what changed
// since the machine looked.
#include "disk.h"

#include <string.h>

#include "extmod/vfs.h"
#include "extmod/vfs_lfs.h"
#include "py/mperrno.h"
#include "py/objarray.h"
#include "py/runtime.h"

#include "host.h"

typedef struct _tensor_device_t {
  mp_obj_base_t base;
  mp_obj_t memory;  // its buffer may move: a bytearray that grows
  uint32_t block_bytes;
  byte *changed;    // or null
} tensor_device_t;

static mp_buffer_info_t memory_of(const tensor_device_t *device) {
  mp_buffer_info_t buffer;
  mp_get_buffer_raise(device->memory, &buffer, MP_BUFFER_RW);
  return buffer;
}

static mp_obj_t new_device(mp_obj_t memory, uint32_t block_bytes, byte *changed) {
  tensor_device_t *const device = mp_obj_malloc(tensor_device_t, &tensor_device_type);
  device->memory = memory;
  device->block_bytes = block_bytes;
  device->changed = changed;
  if (memory_of(device).len < 2 * block_bytes) mp_raise_ValueError(MP_ERROR_TEXT("a disk needs two blocks or more"));
  return MP_OBJ_FROM_PTR(device);
}

static mp_obj_t make_device(const mp_obj_type_t *type, size_t count, size_t keywords, const mp_obj_t *arguments) {
  (void)type;
  mp_arg_check_num(count, keywords, 1, 2, false);
  const mp_int_t block_bytes = count > 1 ? mp_obj_get_int(arguments[1]) : DISK_BLOCK_BYTES;
  if (block_bytes < 128 || block_bytes % 32 != 0) mp_raise_ValueError(MP_ERROR_TEXT("block bytes must be a multiple of 32, and 128 or more"));
  return new_device(arguments[0], block_bytes, NULL);
}

// Where arguments (device, block, buffer[, offset]) point: bytes of the device's memory and of the caller's.
typedef struct _span_t {
  byte *at;
  mp_buffer_info_t buffer;
  uint32_t first_block, end_block;
} span_t;

static span_t span_of(const tensor_device_t *device, size_t count, const mp_obj_t *arguments, mp_uint_t use) {
  span_t span;
  const mp_int_t block = mp_obj_get_int(arguments[1]), offset = count > 3 ? mp_obj_get_int(arguments[3]) : 0;
  mp_get_buffer_raise(arguments[2], &span.buffer, use);
  const mp_buffer_info_t memory = memory_of(device);
  const uint64_t bytes = memory.len / device->block_bytes * device->block_bytes;
  const uint64_t at = (uint64_t)(uint32_t)block * device->block_bytes + (uint32_t)offset;
  if (block < 0 || offset < 0 || at > bytes || span.buffer.len > bytes - at) mp_raise_OSError(MP_EINVAL);
  span.at = (byte *)memory.buf + at;
  span.first_block = at / device->block_bytes;
  span.end_block = (at + span.buffer.len + device->block_bytes - 1) / device->block_bytes;
  return span;
}

static mp_obj_t readblocks(size_t count, const mp_obj_t *arguments) {
  const span_t span = span_of(MP_OBJ_TO_PTR(arguments[0]), count, arguments, MP_BUFFER_WRITE);
  memmove(span.buffer.buf, span.at, span.buffer.len);
  return MP_OBJ_NEW_SMALL_INT(0);
}
static MP_DEFINE_CONST_FUN_OBJ_VAR_BETWEEN(readblocks_obj, 3, 4, readblocks);

static mp_obj_t writeblocks(size_t count, const mp_obj_t *arguments) {
  const tensor_device_t *const device = MP_OBJ_TO_PTR(arguments[0]);
  const span_t span = span_of(device, count, arguments, MP_BUFFER_READ);
  memmove(span.at, span.buffer.buf, span.buffer.len);
  if (device->changed)
    for (uint32_t b = span.first_block; b < span.end_block; b++) device->changed[b / 8] |= 1 << b % 8;
  return MP_OBJ_NEW_SMALL_INT(0);
}
static MP_DEFINE_CONST_FUN_OBJ_VAR_BETWEEN(writeblocks_obj, 3, 4, writeblocks);

mp_obj_t block_ioctl(mp_int_t operation, uint32_t blocks, uint32_t block_bytes) {
  switch (operation) {
    case MP_BLOCKDEV_IOCTL_BLOCK_COUNT: return MP_OBJ_NEW_SMALL_INT(blocks);
    case MP_BLOCKDEV_IOCTL_BLOCK_SIZE: return MP_OBJ_NEW_SMALL_INT(block_bytes);
    case MP_BLOCKDEV_IOCTL_INIT:
    case MP_BLOCKDEV_IOCTL_DEINIT:
    case MP_BLOCKDEV_IOCTL_SYNC:
    case MP_BLOCKDEV_IOCTL_BLOCK_ERASE: return MP_OBJ_NEW_SMALL_INT(0);
    default: return MP_OBJ_NEW_SMALL_INT(-MP_EINVAL);
  }
}
static mp_obj_t ioctl(mp_obj_t self, mp_obj_t operation, mp_obj_t argument) {
  (void)argument;
  const tensor_device_t *const device = MP_OBJ_TO_PTR(self);
  return block_ioctl(mp_obj_get_int(operation), memory_of(device).len / device->block_bytes, device->block_bytes);
}
static MP_DEFINE_CONST_FUN_OBJ_3(ioctl_obj, ioctl);

static const mp_rom_map_elem_t device_locals_table[] = {
    {MP_ROM_QSTR(MP_QSTR_readblocks), MP_ROM_PTR(&readblocks_obj)},
    {MP_ROM_QSTR(MP_QSTR_writeblocks), MP_ROM_PTR(&writeblocks_obj)},
    {MP_ROM_QSTR(MP_QSTR_ioctl), MP_ROM_PTR(&ioctl_obj)},
};
static MP_DEFINE_CONST_DICT(device_locals, device_locals_table);
MP_DEFINE_CONST_OBJ_TYPE(tensor_device_type, MP_QSTR_TensorBlockDevice, MP_TYPE_FLAG_NONE, make_new, make_device, locals_dict, &device_locals);

// --- the tile's own disk ----------------------------------------------------------------------------------------------

// What is mounted at '/' until something is looked for there; then its place is taken by the file system.
typedef struct _own_disk_t {
  mp_obj_base_t base;
  mp_obj_t device;
  mp_obj_t files;  // once it is mounted
} own_disk_t;

static bool is_blank(const own_disk_t *disk) {
  const mp_buffer_info_t memory = memory_of(MP_OBJ_TO_PTR(disk->device));
  const byte *const bytes = memory.buf;
  for (size_t i = 0; i < 2 * DISK_BLOCK_BYTES; i++)
    if (bytes[i]) return false;
  return true;
}

// The file system of the disk. A blank one gets a new one; one that holds something else is left as it is.
static mp_obj_t files_of(own_disk_t *disk) {
  if (disk->files != MP_OBJ_NULL) return disk->files;
  mp_obj_t call[5];
  if (is_blank(disk)) {
    mp_load_method(MP_OBJ_FROM_PTR(&mp_type_vfs_lfs2), MP_QSTR_mkfs, call);
    // A static method has no self.
    mp_call_function_1(call[0], disk->device);
  }
  const mp_obj_t files = mp_call_function_1(MP_OBJ_FROM_PTR(&mp_type_vfs_lfs2), disk->device);
  mp_load_method(files, MP_QSTR_mount, call);
  call[2] = call[3] = mp_const_false;
  mp_call_method_n_kw(2, 0, call);
  for (mp_vfs_mount_t *m = MP_STATE_VM(vfs_mount_table); m; m = m->next)
    if (m->obj == MP_OBJ_FROM_PTR(disk)) m->obj = files;
  disk->files = files;
  return files;
}

static void own_disk_attr(mp_obj_t self, qstr name, mp_obj_t *to) {
  if (to[0] == MP_OBJ_NULL) mp_load_method_maybe(files_of(MP_OBJ_TO_PTR(self)), name, to);
}

// Looking for a module formats no disk.
static mp_import_stat_t own_disk_import_stat(void *self, const char *path) {
  own_disk_t *const disk = self;
  if (disk->files == MP_OBJ_NULL && is_blank(disk)) return MP_IMPORT_STAT_NO_EXIST;
  const mp_obj_t files = files_of(disk);
  const mp_vfs_proto_t *const proto = MP_OBJ_TYPE_GET_SLOT(mp_obj_get_type(files), protocol);
  return proto->import_stat(MP_OBJ_TO_PTR(files), path);
}
static const mp_vfs_proto_t own_disk_proto = {.import_stat = own_disk_import_stat};
static MP_DEFINE_CONST_OBJ_TYPE(own_disk_type, MP_QSTR_disk, MP_TYPE_FLAG_NONE, attr, own_disk_attr, protocol, &own_disk_proto);

// `changed` has a bit for each block.
void EXPORT(py_set_disk)(void *data, uint32_t blocks, byte *changed) {
  const mp_obj_t memory = mp_obj_new_memoryview('B' | MP_OBJ_ARRAY_TYPECODE_FLAG_RW, blocks * DISK_BLOCK_BYTES, data);
  const mp_obj_t device = new_device(memory, DISK_BLOCK_BYTES, changed);
  own_disk_t *const disk = mp_obj_malloc(own_disk_t, &own_disk_type);
  disk->device = device;
  disk->files = MP_OBJ_NULL;
  MP_STATE_VM(disk_of_tile) = device;
  mp_vfs_mount_t *const mount = m_new_obj(mp_vfs_mount_t);
  *mount = (mp_vfs_mount_t){.str = "/", .len = 1, .obj = MP_OBJ_FROM_PTR(disk), .next = NULL};
  MP_STATE_VM(vfs_mount_table) = mount;
  MP_STATE_VM(vfs_cur) = mount;
  mp_obj_list_append(mp_sys_path, mp_obj_new_str_from_cstr("/lib"));
}
MP_REGISTER_ROOT_POINTER(mp_obj_t disk_of_tile);

// tile.disk(): the block device of the tile's own disk.
static mp_obj_t disk(void) {
  if (MP_STATE_VM(disk_of_tile) == MP_OBJ_NULL) mp_raise_msg(&mp_type_OSError, MP_ERROR_TEXT("this tile has no disk"));
  return MP_STATE_VM(disk_of_tile);
}
MP_DEFINE_CONST_FUN_OBJ_0(disk_obj, disk);
