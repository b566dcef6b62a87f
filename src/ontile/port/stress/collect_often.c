// For tests of the collector: it runs before every GC_STRESS-th allocation, and what it frees is overwritten. Whoever uses memory that
// nothing seems to hold then finds rubbish at once. Linked in place of nothing else: the linker's --wrap puts it between the functions
// that allocate and their callers.
#include <string.h>

#include "py/gc.h"
#include "py/mpstate.h"
#include "py/runtime.h"

void collect_at_times(void);

enum { kRubbish = 0x5b };
static unsigned allocations;

void collect_at_times(void) {
  if (MP_STATE_THREAD(gc_lock_depth) || !MP_STATE_MEM(gc_auto_collect_enabled)) return;
  if (++allocations % GC_STRESS == 0) gc_collect();
}

void *__real_gc_alloc(size_t bytes, unsigned flags);
void *__wrap_gc_alloc(size_t bytes, unsigned flags) {
  collect_at_times();
  return __real_gc_alloc(bytes, flags);
}

// The table has two bits a block, of which 0 is a free one.
void __real_gc_collect_end(void);
void __wrap_gc_collect_end(void) {
  const mp_state_mem_area_t *const area = &MP_STATE_MEM(area);
  const size_t used = area->gc_last_used_block;  // before any is freed
  __real_gc_collect_end();
  for (size_t four = 0; four <= used / 4; four++) {
    const byte kinds = area->gc_alloc_table_start[four];
    byte *const blocks = area->gc_pool_start + four * 4 * MICROPY_BYTES_PER_GC_BLOCK;
    for (int i = 0; i < 4; i++)
      if ((kinds >> (2 * i) & 3) == 0) memset(blocks + i * MICROPY_BYTES_PER_GC_BLOCK, kRubbish, MICROPY_BYTES_PER_GC_BLOCK);
  }
}
