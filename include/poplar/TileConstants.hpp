/* Constants of the tile. Worker contexts: the same number as Target::getNumWorkerContexts() and MultiVertex::numWorkers(). */
#ifndef POPLAR_TILE_CONSTANTS_HPP
#define POPLAR_TILE_CONSTANTS_HPP
#define CTXT_WORKERS 6
#define CTXT_SUPERVISOR 6
/* Of a stride of loads and stores: as Target::getNumStrideBits(). */
#define NUM_STRIDE_BITS 10
#endif
