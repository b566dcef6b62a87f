// A block device whose blocks lie in the memory that other tiles lend:
//
//   disk = tile.RemoteBlockDevice(range(1, 33))        on tiles 1 to 32: block n is on tile 1 + n % 32
//   disk = tile.RemoteBlockDevice([5, 9], 10, 20)      of what each lends, blocks 10 to 19
//
// Each access is an errand (exchange.h): program steps carry the request to the tile that lends, a vertex there reads or writes, and
// steps carry the answer back. Its interpreter has no part in it, and may be running, idle or gone.
#include <string.h>

#include "extmod/vfs.h"
#include "py/mperrno.h"
#include "py/runtime.h"

#include "disk.h"
#include "exchange.h"
#include "host.h"

typedef struct _remote_device_t {
  mp_obj_base_t base;
  uint32_t first, blocks;  // of each tile
  uint32_t count;
  uint16_t tiles[];
} remote_device_t;

static mp_obj_t make_remote(const mp_obj_type_t *type, size_t count, size_t keywords, const mp_obj_t *arguments) {
  mp_arg_check_num(count, keywords, 1, 3, false);
  const uint32_t lent = host_exchange_place(4);
  if (lent == 0) mp_raise_msg(&mp_type_OSError, MP_ERROR_TEXT("no tile lends memory"));
  const mp_int_t first = count > 1 ? mp_obj_get_int(arguments[1]) : 0;
  const mp_int_t blocks = count > 2 ? mp_obj_get_int(arguments[2]) : (mp_int_t)lent - first;
  if (first < 0 || blocks < 1 || first + blocks > (mp_int_t)lent)
    mp_raise_msg_varg(&mp_type_ValueError, MP_ERROR_TEXT("each tile lends blocks 0 to %u"), (unsigned)lent - 1);
  mp_obj_t *tiles;
  size_t n;
  mp_obj_t list = mp_obj_is_type(arguments[0], &mp_type_list) ? arguments[0] : mp_call_function_1(MP_OBJ_FROM_PTR(&mp_type_list), arguments[0]);
  mp_obj_get_array(list, &n, &tiles);
  remote_device_t *const device = mp_obj_malloc_var(remote_device_t, tiles, uint16_t, n, type);
  device->first = first;
  device->blocks = blocks;
  device->count = n;
  const mp_int_t all = host_exchange_place(2);
  for (size_t i = 0; i < n; i++) {
    const mp_int_t tile = mp_obj_get_int(tiles[i]);
    if (tile < 0 || tile >= all) mp_raise_msg_varg(&mp_type_ValueError, MP_ERROR_TEXT("there is no tile %d"), (int)tile);
    device->tiles[i] = tile;
  }
  if (n * blocks < 2) mp_raise_ValueError(MP_ERROR_TEXT("a disk needs two blocks or more"));
  return MP_OBJ_FROM_PTR(device);
}

static void errand(uint32_t lender, enum errand_operation operation, uint32_t at, byte *data, uint32_t bytes) {
  const struct exchange_errand_head head = {.operation = operation, .at = at, .bytes = bytes};
  const struct exchange_request request = {.kind = kind_errand, .lender = lender + 1};
  struct exchange_control control;
  nlr_jump_callback_node_t release;
  exchange_hold_step(&release);
  host_exchange_offer(0, &head, sizeof(head));
  if (operation == errand_write) host_exchange_offer(sizeof(head), data, bytes);
  if (!host_exchange_wait(&request, &control) || control.operation != exchange_errand) mp_raise_OSError(MP_EIO);
  if (operation == errand_read) host_exchange_read(((uint32_t *)&control)[4], data, bytes);
  exchange_release_step();
}

// Arguments are (device, block, buffer[, offset]).
static mp_obj_t transfer(size_t count, const mp_obj_t *arguments, enum errand_operation operation) {
  const remote_device_t *const device = MP_OBJ_TO_PTR(arguments[0]);
  const mp_int_t block = mp_obj_get_int(arguments[1]), offset = count > 3 ? mp_obj_get_int(arguments[3]) : 0;
  mp_buffer_info_t buffer;
  mp_get_buffer_raise(arguments[2], &buffer, operation == errand_read ? MP_BUFFER_WRITE : MP_BUFFER_READ);
  const uint64_t size = (uint64_t)device->blocks * device->count * DISK_BLOCK_BYTES;
  uint64_t at = (uint64_t)(uint32_t)block * DISK_BLOCK_BYTES + (uint32_t)offset;
  if (block < 0 || offset < 0 || at > size || buffer.len > size - at) mp_raise_OSError(MP_EINVAL);
  byte *data = buffer.buf;
  for (size_t left = buffer.len; left > 0;) {
    const uint32_t n = at / DISK_BLOCK_BYTES, inside = at % DISK_BLOCK_BYTES;
    const uint32_t now = MIN(left, DISK_BLOCK_BYTES - inside);
    errand(device->tiles[n % device->count], operation, (device->first + n / device->count) * DISK_BLOCK_BYTES + inside, data, now);
    data += now;
    at += now;
    left -= now;
  }
  return MP_OBJ_NEW_SMALL_INT(0);
}
static mp_obj_t readblocks(size_t count, const mp_obj_t *arguments) { return transfer(count, arguments, errand_read); }
static MP_DEFINE_CONST_FUN_OBJ_VAR_BETWEEN(readblocks_obj, 3, 4, readblocks);
static mp_obj_t writeblocks(size_t count, const mp_obj_t *arguments) { return transfer(count, arguments, errand_write); }
static MP_DEFINE_CONST_FUN_OBJ_VAR_BETWEEN(writeblocks_obj, 3, 4, writeblocks);

static mp_obj_t ioctl(mp_obj_t self, mp_obj_t operation, mp_obj_t argument) {
  (void)argument;
  const remote_device_t *const device = MP_OBJ_TO_PTR(self);
  return block_ioctl(mp_obj_get_int(operation), device->blocks * device->count, DISK_BLOCK_BYTES);
}
static MP_DEFINE_CONST_FUN_OBJ_3(ioctl_obj, ioctl);

static const mp_rom_map_elem_t remote_locals_table[] = {
    {MP_ROM_QSTR(MP_QSTR_readblocks), MP_ROM_PTR(&readblocks_obj)},
    {MP_ROM_QSTR(MP_QSTR_writeblocks), MP_ROM_PTR(&writeblocks_obj)},
    {MP_ROM_QSTR(MP_QSTR_ioctl), MP_ROM_PTR(&ioctl_obj)},
};
static MP_DEFINE_CONST_DICT(remote_locals, remote_locals_table);
MP_DEFINE_CONST_OBJ_TYPE(remote_device_type, MP_QSTR_RemoteBlockDevice, MP_TYPE_FLAG_NONE, make_new, make_remote, locals_dict, &remote_locals);
