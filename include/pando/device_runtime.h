/* What codelet code can call at run time. A module's loader sets `pando_runtime` (a symbol of every module that popc links);
 * codelets use include/pando/tile.hpp, which wraps this table. Plain C, so that C codelets can use it. */
#ifndef PANDO_DEVICE_RUNTIME_H
#define PANDO_DEVICE_RUNTIME_H

#ifdef __cplusplus
extern "C" {
#endif

/* What checked code (popc --checked) says of a vertex: its fields that are edges or vectors. `form`: 0 one element, 1 a vector, 2 rows. */
struct PandoCheckedField {
  const char* name;
  unsigned offset, form, element_bytes;
};
struct PandoCheckedVertex {
  const struct PandoCheckedField* fields;
  unsigned long long count;
};
/* Bytes that a pointer may be used for; from 0 to all ones where nothing is known of it. */
struct PandoCheckedRange {
  unsigned long long begin, end;
};

/* What assembled code of a worker sees of its tile (docs/assembly.md). Each thread has one. */
struct PandoWorkerMemory {
  char* tile; /* its memory */
  unsigned long long tile_bytes;
  unsigned long long weights[64]; /* common compute weights */
  unsigned registers[128];        /* control registers that workers and supervisor share */
  float accumulators[32];         /* of inline assembly, whose pieces follow each other */
  unsigned control[16];           /* control registers of floating point, of inline assembly */
  char window[0xc000];            /* state of the vertex, stack, scratch */
};

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
  /* Checked code: which vertex comes next; what `base` may be used for (`exact`: it is what a field holds); `address` is not in that range;
   * an index beyond an array, with what the compiler knows of it. The last two end the run with an error. */
  void (*checked_vertex)(const struct PandoCheckedVertex* description, const char* vertex);
  struct PandoCheckedRange (*checked_range)(const char* base, int exact);
  void (*checked_access)(const char* base, const char* address, unsigned long long bytes, int writes, const char* place);
  void (*checked_index)(const void* array, unsigned long long index);
  /* printf, vprintf, fprintf, puts, putchar, vfprintf, fputs and putc of codelets: popc makes these calls. */
  int (*print)(const char* format, ...);
  int (*print_all)(const char* format, __builtin_va_list values);
  int (*print_to)(void* file, const char* format, ...);
  int (*print_line)(const char* text);
  int (*print_char)(int character);
  int (*print_all_to)(void* file, const char* format, __builtin_va_list values);
  int (*print_text_to)(const char* text, void* file);
  int (*print_char_to)(int character, void* file);
  /* Assembled code. popc makes these calls, around the code of a vertex and for addresses that are not of its tile's memory. */
  struct PandoWorkerMemory* (*begin_worker)(const void* vertex, const void* fields, unsigned count);
  void (*end_worker)(void* vertex, const void* fields, unsigned count);
  void* (*worker_address)(unsigned address, unsigned access, const char* where, const void* code, unsigned code_bytes);
  /* Addresses of inline assembly: the tile's of a host's, and back. */
  unsigned (*tile_address)(const void* host);
  void* (*host_address)(unsigned tile);
};

#ifdef __cplusplus
}
#endif
#endif
