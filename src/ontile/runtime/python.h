// Calls into the interpreter that lives in a tile's memory. One native code serves all tiles: an interpreter is its memory.
//
//   struct PandoPython python = {.base = pando::tile_base(), .size = pando::tile_size(), .host = &host, .context = &mine};
//   pando_python_boot(&python, heap_bytes);                        // once; or map an image that was booted before
//   int ending = pando_python_run(&python, text, bytes, "<stdin>", 7, 1);
//
// Memory: the first 64 bytes, and [PANDO_PYTHON_BEGIN, pando_python_heap_begin() + heap_bytes), belong to the interpreter; no variable
// of the program may lie there. It may read the rest of the first PANDO_PYTHON_MEMORY_BYTES, and 7 bytes more; it may write there what
// its caller allows.
//
// A call that cannot go on (a wrong address, a stack overflow, no memory, no fuel) returns PANDO_PYTHON_ENDED, with the reason in
// `why`; the memory is then good for nothing but a new image. Calls from one tile may nest, and a call may suspend its fiber in
// a function of the host; two that are not nested must not be running at once. Only write, read, longyield, syscall, poll and
// exchange_wait may do either: the collector then finds what the waiting call holds.
//
// C, so that codelets of every kind can use it. Thread-safe between tiles.
#ifndef PANDO_ONTILE_PYTHON_H
#define PANDO_ONTILE_PYTHON_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PANDO_PYTHON_EXPORT __attribute__((visibility("default")))

enum {
  PANDO_PYTHON_ENDED = -1,
  PANDO_PYTHON_DONE = 0,
  PANDO_PYTHON_RAISED = 1,
  PANDO_PYTHON_EXITED = 2,
};

// What a tile waits for, and what the machine answers: see exchange.h.
struct PandoPythonRequest {
  uint32_t words[8];
};
struct PandoPythonControl {
  uint32_t words[8];
};

// What the interpreter asks of the machine. `context` is that of the call. Entries may be null: then nothing is written, there is
// no input, and exchanging raises an exception.
struct PandoPythonHost {
  void (*write)(void* context, const char* text, uint32_t bytes);
  int (*read)(void* context);  // the next character, or -1; may suspend
  uint64_t (*ticks_us)(void* context);
  uint64_t (*time_ns)(void* context);
  uint32_t (*seed)(void* context);
  void (*longyield)(void* context);
  void (*syscall)(void* context);
  // Called every PANDO_PYTHON_SLICE loop rounds. 0: go on; 1: raise KeyboardInterrupt; 2: end the interpreter, which has
  // no fuel; 3: end it, because it does not let itself be interrupted. `may_wait`: the function may suspend.
  int (*poll)(void* context, int may_wait);
  void (*exchange_wait)(void* context, const struct PandoPythonRequest* request, struct PandoPythonControl* control);
  void (*exchange_offer)(void* context, uint32_t offset, const void* bytes, uint32_t count);
  int (*exchange_read)(void* context, uint32_t offset, void* to, uint32_t count);  // 0: no such bytes
  uint32_t (*exchange_pair)(void* context, uint32_t which);
  uint32_t (*exchange_place)(void* context, uint32_t which);
  uint32_t (*exchange_offer_bytes)(void* context);
  uint32_t (*exchange_reason)(void* context, char* to, uint32_t capacity);
};

/* Above the executable part of a tile's memory. */
#define PANDO_PYTHON_BEGIN 0x34000
/* An interpreter's own memory ends here or before. */
#define PANDO_PYTHON_END 0x98000
#define PANDO_PYTHON_HEADER_BYTES 64
/* What tiles declare for the interpreter's code, an assumed figure: it leaves 160 KiB of their executable memory. */
#define PANDO_PYTHON_CODE_BYTES 0xc000
/* What the interpreter sees of a tile: 624 KiB. */
#define PANDO_PYTHON_MEMORY_BYTES 0x9c000
/* The last 24 bytes of the header are the caller's: a place on the tile that Python cannot write to. */
#define PANDO_PYTHON_HEADER_OF_CALLER 40

#define PANDO_PYTHON_SLICE 200000
#define PANDO_PYTHON_BLOCK_BYTES 512

struct PandoPython {
  char* base;       // the tile's memory
  uint64_t size;    // of it, at least PANDO_PYTHON_MEMORY_BYTES
  char* stack_low;  // the lowest native address that calls may use; null: 256 KiB below the caller's
  const struct PandoPythonHost* host;
  void* context;
  int64_t slice;                    // loop rounds until poll() is asked; 0: PANDO_PYTHON_SLICE
  uint32_t write_begin, write_end;  // beyond its own memory, what it may write to, from the tile's base; both 0: all that it may read
  int unsent;                       // out, of pando_python_key: whether pando_python_flush has something to do
  char why[160];                    // out: why it ended
};

// Bytes from the tile's base to the Python heap, a multiple of 4096.
PANDO_PYTHON_EXPORT uint64_t pando_python_heap_begin(void);
// Of the native code: an image belongs to one.
PANDO_PYTHON_EXPORT const char* pando_python_version(void);
// A new interpreter. 0, or PANDO_PYTHON_ENDED.
PANDO_PYTHON_EXPORT int pando_python_boot(struct PandoPython* python, uint32_t heap_bytes);
PANDO_PYTHON_EXPORT void pando_python_shut_down(struct PandoPython* python);

// kind: 0 a script, 1 a line at a prompt, 2 a cell. `source` is native memory, of any length.
PANDO_PYTHON_EXPORT int pando_python_run(struct PandoPython* python, const char* source, uint32_t bytes, const char* name,
                                         uint32_t name_bytes, int kind);
// A longer text in pieces: first all of pando_python_put (0, or PANDO_PYTHON_ENDED), then one pando_python_run_put.
PANDO_PYTHON_EXPORT int pando_python_put(struct PandoPython* python, uint32_t offset, uint32_t whole, const char* text, uint32_t bytes);
PANDO_PYTHON_EXPORT int pando_python_run_put(struct PandoPython* python, uint32_t whole, const char* name, uint32_t name_bytes, int kind);
// After a command: waits until other tiles have received what this one sent, or the machine says stop. 0, or PANDO_PYTHON_ENDED.
PANDO_PYTHON_EXPORT int pando_python_flush(struct PandoPython* python);
// Closes files that nothing refers to. `all`: as at a soft reset, every one; the interpreter cannot be used any more. 0, or
// PANDO_PYTHON_ENDED.
PANDO_PYTHON_EXPORT int pando_python_finalise(struct PandoPython* python, int all);
// Of the last call that returned PANDO_PYTHON_EXITED.
PANDO_PYTHON_EXPORT int pando_python_exit_status(struct PandoPython* python);

// Global names. 0, or PANDO_PYTHON_ENDED. Data of text and arrays lie in the tile's memory, at `address` from its base, and are
// not copied.
PANDO_PYTHON_EXPORT int pando_python_set_int(struct PandoPython* python, const char* name, int32_t value);
PANDO_PYTHON_EXPORT int pando_python_set_text(struct PandoPython* python, const char* name, uint32_t address, uint32_t bytes);
PANDO_PYTHON_EXPORT int pando_python_set_view(struct PandoPython* python, const char* name, uint32_t address, uint32_t elements, char type,
                                              int is_writable);
// Views have no elements until they are set again.
PANDO_PYTHON_EXPORT int pando_python_drop_views(struct PandoPython* python);
// The tile's disk: `blocks` of PANDO_PYTHON_BLOCK_BYTES at `address`, mounted at '/' when it is first used, and at `changed` a bit for
// each, which is set when the block is written. Once for an interpreter.
PANDO_PYTHON_EXPORT int pando_python_set_disk(struct PandoPython* python, uint32_t address, uint32_t blocks, uint32_t changed);
// As an array.array instead of a memoryview.
PANDO_PYTHON_EXPORT int pando_python_set_array(struct PandoPython* python, const char* name, uint32_t address, uint32_t elements,
                                               char type);

// MicroPython's own prompt, a key at a time. pando_python_key: 0, PANDO_PYTHON_EXITED after Ctrl-D, or PANDO_PYTHON_ENDED.
PANDO_PYTHON_EXPORT int pando_python_prompt(struct PandoPython* python);
PANDO_PYTHON_EXPORT int pando_python_key(struct PandoPython* python, int key);
// 1: a prompt would run `source`; 0: it would ask for more lines.
PANDO_PYTHON_EXPORT int pando_python_is_complete(struct PandoPython* python, const char* source, uint32_t bytes);
// Writes what to insert, or else lists the candidates through host->write. Returns the bytes to insert.
PANDO_PYTHON_EXPORT int pando_python_complete(struct PandoPython* python, const char* line, uint32_t bytes, char* insert,
                                              uint32_t capacity);

#ifdef __cplusplus
}
#endif
#endif
