// Block devices of tiles.
#pragma once
#include <stdint.h>

#include "py/obj.h"

#define DISK_BLOCK_BYTES 512

extern const mp_obj_type_t tensor_device_type, remote_device_type;
MP_DECLARE_CONST_FUN_OBJ_0(disk_obj);

// What ioctl() answers for a device of so many blocks that keeps nothing back.
mp_obj_t block_ioctl(mp_int_t operation, uint32_t blocks, uint32_t block_bytes);
