/* What codelet code can call at run time. A module's loader sets `pando_runtime` (a symbol of every module that popc links);
 * codelets use include/pando/tile.hpp, which wraps this table. Plain C, so that C codelets can use it. */
#ifndef PANDO_DEVICE_RUNTIME_H
#define PANDO_DEVICE_RUNTIME_H

#ifdef __cplusplus
extern "C" {
#endif

struct PandoRuntime {
  unsigned version; /* 1 */
  /* The calling vertex's tile: first byte of its memory, bytes, number, tiles of the machine. */
  char* (*tile_base)(void);
  unsigned long long (*tile_size)(void);
  unsigned (*tile_id)(void);
  unsigned (*tile_count)(void);
  unsigned (*replica_id)(void);
  /* The tile's copy of a module's mutable globals. */
  void* (*tile_globals)(unsigned module);
  /* Fibers of the calling vertex's tile; see pando/tile.hpp. 1: returned, 0: suspended, -1: misuse. */
  int (*fiber_start)(unsigned slot, void (*function)(void*), void* argument);
  int (*fiber_resume)(unsigned slot);
  int (*fiber_suspended)(unsigned slot);
  void (*suspend)(void);
  /* Ends the run with an error that names the tile and `message`. */
  void (*trap)(const char* message);
  /* A number that differs per call, deterministic per tile: for random seeds and hardware counters. */
  unsigned long long (*cycle_count)(void);
  /* setjmp() and longjmp() of codelets. popc makes these calls: run_jumping around the compute() of vertices that reach them. */
  int (*run_jumping)(int (*function)(void*), void* argument); /* returns its result */
  int (*set_jump)(void* environment);
  void (*jump)(void* environment, int value);
};

#ifdef __cplusplus
}
#endif
#endif
