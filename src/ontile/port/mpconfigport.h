// What the interpreter on a tile can do. Everything that MicroPython has and that makes sense without hardware pins, sockets or
// native code; sizes are those of a 32-bit machine.
#pragma once
#include <alloca.h>
#include <stdint.h>

#define MICROPY_CONFIG_ROM_LEVEL (MICROPY_CONFIG_ROM_LEVEL_EVERYTHING)

typedef int32_t mp_int_t;
typedef uint32_t mp_uint_t;
typedef long mp_off_t;
#define MP_SSIZE_MAX (0x7fffffff)
#define INT_FMT "%ld"
#define UINT_FMT "%lu"
#undef INT_FMT
#undef UINT_FMT
#define UINT_FMT "%u"
#define INT_FMT "%d"

// The core.
#define MICROPY_ENABLE_COMPILER (1)
#define MICROPY_ENABLE_GC (1)
#define MICROPY_NLR_SETJMP (1)
#define MICROPY_STACK_CHECK (1)
#define MICROPY_STACK_CHECK_MARGIN (1024)
#define MICROPY_KBD_EXCEPTION (1)
#define MICROPY_ENABLE_SCHEDULER (1)
#define MICROPY_LONGINT_IMPL (MICROPY_LONGINT_IMPL_MPZ)
#define MICROPY_FLOAT_IMPL (MICROPY_FLOAT_IMPL_DOUBLE)
#define MICROPY_ENABLE_SOURCE_LINE (1)
#define MICROPY_ENABLE_DOC_STRING (1)
#define MICROPY_ERROR_REPORTING (MICROPY_ERROR_REPORTING_DETAILED)
#define MICROPY_WARNINGS (1)
#define MICROPY_ENABLE_EMERGENCY_EXCEPTION_BUF (1)
#define MICROPY_EMERGENCY_EXCEPTION_BUF_SIZE (256)
#define MICROPY_MALLOC_USES_ALLOCATED_SIZE (1)
#define MICROPY_MEM_STATS (0)
#define MICROPY_PERSISTENT_CODE_LOAD (1)
#define MICROPY_DEBUG_PRINTERS (1)
#define MICROPY_USE_INTERNAL_ERRNO (1)
#define MICROPY_USE_INTERNAL_PRINTF (1)
#define MICROPY_ALLOC_PATH_MAX (256)
#define MICROPY_EPOCH_IS_1970 (1)

// The loop over bytecodes is not counted (translate.py leaves it out), the rounds of Python loops are.
void __attribute__((import_module("host"), import_name("tick"))) host_tick(void);
#define MICROPY_VM_HOOK_LOOP host_tick();

// The prompt.
#define MICROPY_HELPER_REPL (1)
#define MICROPY_REPL_EVENT_DRIVEN (1)
#define MICROPY_REPL_EMACS_WORDS_MOVE (1)
#define MICROPY_REPL_EMACS_EXTRA_WORDS_MOVE (1)
#define MICROPY_USE_READLINE_HISTORY (1)
#define MICROPY_READLINE_HISTORY_SIZE (50)
#define MICROPY_COMP_ALLOW_TOP_LEVEL_AWAIT (0)

// Modules.
#define MICROPY_PY_SYS_PLATFORM "pando"
#define MICROPY_HW_BOARD_NAME "tile"
#define MICROPY_HW_MCU_NAME "pando"
#define MICROPY_PY_SYS_STDFILES (1)
#define MICROPY_PY_SYS_STDIO_BUFFER (1)
#define MICROPY_PY_SYS_ATEXIT (0)
#define MICROPY_PY_SYS_EXC_INFO (1)
#define MICROPY_PY_GC_COLLECT_RETVAL (1)
#define MICROPY_PY_STR_BYTES_CMP_WARN (1)
#define MICROPY_PY_MATH_FACTORIAL (1)
#define MICROPY_PY_UCTYPES (1)
#define MICROPY_PY_TIME (1)
#define MICROPY_PY_TIME_GMTIME_LOCALTIME_MKTIME (1)
#define MICROPY_PY_TIME_TIME_TIME_NS (1)
#define MICROPY_PY_TIME_INCLUDEFILE "time_of_host.h"
#define MICROPY_PY_RANDOM_SEED_INIT_FUNC (tile_seed())
#define MICROPY_PY_SELECT (1)
#define MICROPY_PY_SELECT_SELECT (0)
#define MICROPY_PY_ASYNCIO (1)
#define MICROPY_PY_OS (1)
#define MICROPY_PY_OS_DUPTERM (0)
#define MICROPY_PY_OS_STATVFS (1)
#define MICROPY_PY_OS_URANDOM (1)
#define MICROPY_PY_OS_INCLUDEFILE "random_of_tile.h"
#define MICROPY_PY_VFS (1)
#define MICROPY_VFS (1)
#define MICROPY_VFS_ROM (1)
#define MICROPY_VFS_ROM_IOCTL (0)
#define MICROPY_FATFS_ENABLE_LFN (1)
#define MICROPY_FATFS_LFN_CODE_PAGE 437
#define MICROPY_FATFS_RPATH (2)
#define MICROPY_FATFS_MAX_SS (4096)
#define MICROPY_FATFS_USE_LABEL (1)
#define MICROPY_READER_VFS (1)
#define MICROPY_PY_DEFLATE (1)
#define MICROPY_PY_DEFLATE_COMPRESS (1)
#define MICROPY_PY_HASHLIB (1)
#define MICROPY_PY_CRYPTOLIB (0)
#define MICROPY_PY_FRAMEBUF (1)
#define MICROPY_PY_MARSHAL (1)

// statements.c
#define MICROPY_PORT_BUILTINS                                                     \
  {MP_ROM_QSTR(MP_QSTR_longyield), MP_ROM_PTR(&statement_longyield_obj)},         \
      {MP_ROM_QSTR(MP_QSTR_ipusyscall), MP_ROM_PTR(&statement_ipusyscall_obj)},
extern const struct _mp_obj_fun_builtin_fixed_t statement_longyield_obj, statement_ipusyscall_obj;

// What a tile does not have.
#define MICROPY_PY_THREAD (0)
#define MICROPY_PY_MACHINE (0)
#define MICROPY_PY_SSL (0)
#define MICROPY_PY_SOCKET (0)
#define MICROPY_PY_NETWORK (0)
#define MICROPY_PY_BLUETOOTH (0)
#define MICROPY_PY_WEBSOCKET (0)
#define MICROPY_PY_WEBREPL (0)
#define MICROPY_PY_BTREE (0)

#define MP_STATE_PORT MP_STATE_VM

unsigned tile_seed(void);
