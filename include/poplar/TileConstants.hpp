/* Constants of the tile. Worker contexts: the same number as Target::getNumWorkerContexts() and MultiVertex::numWorkers(). */
#ifndef POPLAR_TILE_CONSTANTS_HPP
#define POPLAR_TILE_CONSTANTS_HPP
#include <arch/gc_tile_defines.h>
#ifndef CTXT_WORKERS
#define CTXT_WORKERS 6
#define CTXT_SUPERVISOR 6
#endif
/* Of a stride of loads and stores: as Target::getNumStrideBits(). */
#define NUM_STRIDE_BITS 10
#endif
