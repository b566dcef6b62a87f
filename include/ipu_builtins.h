/* Builtin functions of the tile's compiler that make sense on a host: the tile's number and counters, and element-wise tests. */
#ifndef PANDO_IPU_BUILTINS_H
#define PANDO_IPU_BUILTINS_H

#ifdef __POPC__

#include <pando/device_runtime.h>
#include <poplar/VectorTypes.hpp>

#ifdef __cplusplus
extern "C"
#else
extern
#endif
    const struct PandoRuntime *pando_runtime;

static inline unsigned __builtin_ipu_get_tile_id(void) { return pando_runtime->tile_id(); }
static inline unsigned __builtin_ipu_get_scount_l(void) { return (unsigned)pando_runtime->cycle_count(); }
static inline unsigned __builtin_ipu_get_scount_u(void) { return (unsigned)(pando_runtime->cycle_count() >> 32); }

#endif /* __POPC__ */
#endif
