// Runs tile programs on CPU threads. One Runner owns the memory of all tiles of all replicas and the streams' cursors; it borrows
// threads. Results are the same bits for any number of threads. With a link, "all replicas" are those of this process, counted from 0.
#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "codelet/library.h"
#include "exec/break_at.h"
#include "tile/observer.h"
#include "tile/program.h"

namespace pando {
class ReplicaLink;
}

namespace pando::exec {

// A host end of a FIFO. Called one at a time, in a fixed order (contract 4), on whichever thread of the team comes to the step: a
// callback that waits keeps that thread, and with `threads` = 1 the whole program.
class FifoCallback {
 public:
  virtual ~FifoCallback() = default;
  // True: the block was filled; false: `fetch` is called. Asked for when the program needs the block, but for the first of each run: so it
  // may wait for what the host learns from steps before that one.
  virtual bool prefetch(void*) { return false; }
  virtual void fetch(void* block) = 0;  // to device: fill the block; to host: take it
  virtual void complete() {}            // the block of the last fetch or prefetch was used
  // True: blocks may lie among the tiles' bytes. It neither reads what it is to fill nor writes what it is to take.
  virtual bool is_in_place() const { return false; }
};

using HostFunctionCallback = std::function<void(const std::vector<const void*>& inputs, const std::vector<void*>& outputs)>;

// Threads that runners borrow (exec/threads/workers.h).
class Workers;
std::shared_ptr<Workers> make_workers();

// Who looks for vertices without an end, for all runners of a device (exec/faults/vertex_watch.h).
class VertexWatches;
std::shared_ptr<VertexWatches> make_vertex_watches();

struct Options {
  std::shared_ptr<VertexWatches> watches;  // null: its own
  std::shared_ptr<Workers> workers;        // whose threads it runs on; null: its own
  unsigned threads = 0;                    // 0: PANDO_THREADS, or the machine's processors
  bool tile_by_tile = true;                // receive and compute tile by tile where nobody can tell (contract 12, tile_by_tile.h)
  bool near_buffers = true;                // what comes for the next compute step alone stays near the thread (moves/near_buffers.h)
  bool prefetch_tiles = true;              // bring what the next tiles' vertices touch first into the cache (contract 10)
  bool strided_vertices = true;            // vertices whose operands lie at equal strides run without their descriptors (steps/strided.h)
  bool moves_in_blocks = true;             // small moves that read all over memory go block by block (moves/move_plan.h)
  bool linger = true;                      // threads wait a little for the next run before they sleep (workers.h)
  bool poison_undefined = false;           // WriteUndef fills with 0xA5
  bool prefetch = true;                    // call FifoCallback::prefetch
  std::shared_ptr<ReplicaLink> link;       // whose replicas run here (pando/replicas.hpp); null: all
  bool out_of_memory = false;              // also run programs that do not fit into tile memory: a model has as much as they need
  bool tag_prints = false;                 // lines that codelets print begin with the vertex' name
  BreakAt break_at;                        // vertices before which pando_break() is called
  bool watched = false;                    // an observer looks at tensors after each step: steps do not run together
  unsigned vertex_seconds = 10;            // standard error names a vertex that has not ended for so long; 0: never
};

class Runner {
 public:
  // The library's modules must hold every codelet the program names. Throws stream_memory_allocation_error if the host has no
  // memory, application_runtime_error if the program was compiled out of memory, unless `out_of_memory` is set.
  Runner(std::shared_ptr<const tile::Program> program, Library library, const Options& options);
  ~Runner();
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  const tile::Program& program() const;

  // [begin, end): each block is taken from or put to the next part, wrapping around; end == nullptr: the same block every time.
  // Throws stream_connection_error: unknown handle (with similar names), size not a multiple of the block.
  void connect(std::string_view handle, void* begin, void* end);
  void connect(std::string_view handle, unsigned replica, std::unique_ptr<FifoCallback> callback);
  void connect_host_function(std::string_view handle, unsigned replica, HostFunctionCallback callback);
  void write(std::string_view handle, const void* begin, const void* end);  // end may be null
  void read(std::string_view handle, void* begin, void* end);
  void copy_to_remote(std::string_view handle, const void* source, std::uint64_t row, unsigned replica);
  void copy_from_remote(std::string_view handle, void* destination, std::uint64_t row, unsigned replica);

  // Runs program `index` to its end. Throws control_program_error for a wrong index, stream_connection_error for an
  // unconnected FIFO that the program uses, application_runtime_error for ErrorProgram and for vertices that fault: then there can be
  // no further run.
  void run(unsigned index);
  // Asks a running program to stop at the next step (any thread), and waits for it, but in a callback of the run. A vertex that goes on for
  // 200 ms more is left where it is: the run ends with application_runtime_error.
  void stop();
  // Is the caller inside a run of this: in a callback, on a thread of its team?
  bool runs_on_this_thread() const;

  void set_observer(tile::StepObserver* observer);  // may be null
  void set_print_stream(std::ostream* out);

  // Restores one tile's images and globals and drops its suspended fibers (include/pando/host.hpp).
  void reset_tile(unsigned replica, TileId tile);
  // The tile's bytes, for tests and debuggers.
  char* tile_base(unsigned replica, TileId tile);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace pando::exec
