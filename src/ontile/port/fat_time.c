// What file systems ask of a port, and what littlefs leaves to it: that a file is used as it was opened.
#include "lib/littlefs/lfs1.h"
#include "lib/littlefs/lfs2.h"
#include "lib/oofatfs/ff.h"
#include "py/mphal.h"
#include "shared/timeutils/timeutils.h"

// Of files on a FAT disk: two seconds and up, since 1980.
DWORD get_fattime(void) {
  timeutils_struct_time_t now;
  timeutils_seconds_since_epoch_to_struct_time(mp_hal_time_ns() / 1000000000ULL, &now);
  return (DWORD)(now.tm_year - 1980) << 25 | (DWORD)now.tm_mon << 21 | (DWORD)now.tm_mday << 16 | (DWORD)now.tm_hour << 11 |
         (DWORD)now.tm_min << 5 | (DWORD)now.tm_sec >> 1;
}

#define CHECKED(lfs, LFS, action, needed, buffer)                                                                          \
  lfs##_ssize_t __real_##lfs##_file_##action(lfs##_t *disk, lfs##_file_t *file, buffer bytes, lfs##_size_t count);         \
  lfs##_ssize_t __wrap_##lfs##_file_##action(lfs##_t *disk, lfs##_file_t *file, buffer bytes, lfs##_size_t count) {        \
    return (file->flags & needed) ? __real_##lfs##_file_##action(disk, file, bytes, count) : LFS##_ERR_BADF;              \
  }
CHECKED(lfs1, LFS1, read, LFS1_O_RDONLY, void *)
CHECKED(lfs1, LFS1, write, LFS1_O_WRONLY, const void *)
CHECKED(lfs2, LFS2, read, LFS2_O_RDONLY, void *)
CHECKED(lfs2, LFS2, write, LFS2_O_WRONLY, const void *)
