#include "exec/runner.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

#include "base/error.h"
#include "codelet/foreign_call.h"
#include "exec/running/interpreter.h"
#include "pando/replicas.hpp"

namespace pando::exec {

namespace {

// Do the library's codelets fit the program's? Ids are the same numbers in both.
void check_library(const tile::Program& program, const Library& library, const Options& options) {
  if (program.out_of_memory && !options.out_of_memory)
    fail(ErrorKind::application_runtime_error, "out-of-memory-program",
         "the program was compiled although it does not fit into tile memory; it can be reported on, not run");
  for (const tile::ComputeStep& step : program.computes)
    for (const tile::VertexGroup& g : step.groups) {
      if (g.codelet.index() >= library.size() ||
          (g.codelet.index() < program.codelet_names.size() && library[g.codelet].name != program.codelet_names[g.codelet.index()]))
        fail(ErrorKind::graph_object_load_error, "codelet-mismatch",
             "the executable needs codelet {} '{}', which the loaded modules do not have", g.codelet.value,
             g.codelet.index() < program.codelet_names.size() ? program.codelet_names[g.codelet.index()] : "?");
      if (!library[g.codelet].kernel)
        fail(ErrorKind::link_error, "codelet-without-code", "codelet '{}' has no code", library[g.codelet].name);
    }
}

// The program of the replicas that run here: what the others need is never made.
std::shared_ptr<const tile::Program> program_here(std::shared_ptr<const tile::Program> program, const Options& options) {
  if (!options.link) return program;
  const unsigned first = options.link->first(), count = options.link->count();
  if (count == 0 || first >= program->replication || count > program->replication - first)
    fail(ErrorKind::graph_replication_error, "replica-range", "replicas {} to {} are to run here; the program has {}", first,
         static_cast<std::int64_t>(first) + count - 1, program->replication);
  auto here = std::make_shared<tile::Program>(*program);
  here->replication = count;
  return here;
}

bool sees_tiles(const tile::Program& program, const Library& library) {
  for (const tile::ComputeStep& step : program.computes)
    for (const tile::VertexGroup& g : step.groups)
      if (library[g.codelet].uses_tile) return true;
  return false;
}

}  // namespace

struct Runner::State {
  State(std::shared_ptr<const tile::Program> p, Library l, const Options& options)
      : program((check_library(*p, l, options), program_here(std::move(p), options))),
        first(options.link ? options.link->first() : 0),
        library(std::move(l)),
        memory(*program, library, sees_tiles(*program, library)),
        watch(options.watches ? options.watches->of(options.vertex_seconds) : std::make_shared<VertexWatch>(options.vertex_seconds)),
        contexts(make_contexts()),
        ends(*program, options.prefetch),
        interpreter(*program, library, memory, contexts, ends, options) {
    install_fibers();
    const MovePlan initial = MovePlan::build(program->initial_moves, memory.stride(), 1);
    for (unsigned r = 0; r < program->replication; ++r) {
      initialise_globals(r);
      initial.run_all(memory.base(r), program->initial_data.data());
      const unsigned number = first + r;
      for (const tile::Location& l : program->replica_index)
        std::memcpy(memory.at(r, l.tile, l.offset), &number, std::min(sizeof number, size_of(l.type)));
    }
  }

  std::vector<std::unique_ptr<TileContexts>> make_contexts() {
    std::vector<std::unique_ptr<TileContexts>> all;
    for (unsigned r = 0; r < program->replication; ++r) {
      all.push_back(std::make_unique<TileContexts>(*program, memory, r, first + r));
      all.back()->watch = watch.get();
    }
    return all;
  }

  void initialise_globals(unsigned replica) {
    for (std::uint32_t t = 0; t < program->machine.tiles(); ++t) initialise_globals(replica, TileId(t));
  }

  PANDO_CALLS_CODELETS void initialise_globals(unsigned replica, TileId tile) {
    for (std::uint32_t m = 0; m < program->globals.size(); ++m) {
      if (m >= library.modules() || program->globals[m].empty()) continue;
      const ModuleGlobals& globals = library.module(ModuleId(m)).globals;
      const std::uint64_t offset = program->globals[m][tile.index()];
      if (offset == ~std::uint64_t{0} || !globals.initialise) continue;
      tile_context() = contexts[replica]->context(tile);
      globals.initialise(memory.at(replica, tile, offset));
    }
  }

  // A read and a write handle may have one name and different tensors: then they are two entries.
  const tile::HandleInfo& handle(std::string_view name, tile::TransferId tile::HandleInfo::* way) const {
    const tile::HandleInfo* found = nullptr;
    for (const tile::HandleInfo& h : program->handles)
      if (h.name == name && (found == nullptr || (h.*way).valid())) found = &h;
    if (found != nullptr) return *found;
    std::string names;
    for (std::size_t i = 0; i < program->handles.size() && i < 20; ++i) names += (i ? ", '" : "'") + program->handles[i].name + "'";
    fail(ErrorKind::stream_connection_error, "unknown-handle", "no tensor has the handle '{}'; there are: {}", name,
         names.empty() ? "none" : names);
  }

  // One block for all replicas, or one for each of them; the host's buffer may be larger. Returns the distance between replicas' blocks.
  std::uint64_t replica_step(const tile::HandleInfo& h, const char* begin, const char* end) const {
    if (!begin && h.bytes > 0)
      fail(ErrorKind::stream_connection_error, "null-buffer", "handle '{}': the host's buffer is a null pointer", h.name);
    if (!end) return 0;
    if (end < begin)
      fail(ErrorKind::stream_connection_error, "handle-size", "handle '{}': the host's buffer ends before it begins", h.name);
    const auto bytes = static_cast<std::uint64_t>(end - begin);
    if (bytes == h.bytes) return 0;
    if (bytes >= h.bytes * program->replication) return h.bytes;
    fail(ErrorKind::stream_connection_error, "handle-size", "handle '{}' has {} bytes, the host's buffer {}", h.name, h.bytes, bytes);
  }

  std::shared_ptr<const tile::Program> program;
  unsigned first;  // replica of this process
  Library library;
  TileMemory memory;
  std::shared_ptr<VertexWatch> watch;
  std::vector<std::unique_ptr<TileContexts>> contexts;
  HostEnds ends;
  Interpreter interpreter;
};

Runner::Runner(std::shared_ptr<const tile::Program> program, Library library, const Options& options)
    : state_(std::make_unique<State>(std::move(program), std::move(library), options)) {}

Runner::~Runner() = default;

const tile::Program& Runner::program() const { return *state_->program; }

void Runner::connect(std::string_view handle, void* begin, void* end) { state_->ends.connect(handle, begin, end); }

void Runner::connect(std::string_view handle, unsigned replica, std::unique_ptr<FifoCallback> callback) {
  state_->ends.connect(handle, replica, std::move(callback));
}

void Runner::connect_host_function(std::string_view handle, unsigned replica, HostFunctionCallback callback) {
  state_->ends.connect_host_function(handle, replica, std::move(callback));
}

void Runner::write(std::string_view name, const void* begin, const void* end) {
  const tile::HandleInfo& h = state_->handle(name, &tile::HandleInfo::write);
  if (!h.write.valid()) fail(ErrorKind::stream_connection_error, "handle-direction", "handle '{}' was not made for writing", name);
  auto* const from = static_cast<char*>(const_cast<void*>(begin));  // only read: the transfer goes to the device
  const std::uint64_t step = state_->replica_step(h, from, static_cast<const char*>(end));
  for (unsigned r = 0; r < state_->program->replication; ++r) state_->interpreter.steps().move_handle(h.write, r, from + r * step);
}

void Runner::read(std::string_view name, void* begin, void* end) {
  const tile::HandleInfo& h = state_->handle(name, &tile::HandleInfo::read);
  if (!h.read.valid()) fail(ErrorKind::stream_connection_error, "handle-direction", "handle '{}' was not made for reading", name);
  auto* const to = static_cast<char*>(begin);
  const std::uint64_t step = state_->replica_step(h, to, static_cast<const char*>(end));
  for (unsigned r = 0; r < (step ? state_->program->replication : 1); ++r)
    state_->interpreter.steps().move_handle(h.read, r, to + r * step);
}

void Runner::copy_to_remote(std::string_view handle, const void* source, std::uint64_t row, unsigned replica) {
  state_->ends.copy_to_remote(handle, source, row, replica);
}

void Runner::copy_from_remote(std::string_view handle, void* destination, std::uint64_t row, unsigned replica) {
  state_->ends.copy_from_remote(handle, destination, row, replica);
}

void Runner::run(unsigned index) {
  for (const auto& contexts : state_->contexts) {
    if (contexts->broken)
      fail(ErrorKind::application_runtime_error, "engine-broken", "a vertex faulted in an earlier run: load the engine again");
    contexts->leaves_vertices = false;
  }
  const VertexWatch::Run watched(*state_->watch);
  state_->interpreter.run(index);
}

bool Runner::runs_on_this_thread() const { return state_->interpreter.scheduler().runs_on_this_thread(); }

// Steps end soon; a vertex that does not is left where it is.
void Runner::stop() {
  using namespace std::chrono_literals;
  state_->interpreter.scheduler().stop();
  if (runs_on_this_thread()) return;
  constexpr int kPatience = 200, kMost = 5000;  // milliseconds
  for (int waited = 0; waited < kMost && state_->interpreter.scheduler().is_running(); ++waited) {
    if (waited >= kPatience) {
      for (const auto& contexts : state_->contexts) contexts->leaves_vertices = true;
      state_->interpreter.scheduler().signal_threads(kStopSignal);
    }
    std::this_thread::sleep_for(1ms);
  }
}

void Runner::set_observer(tile::StepObserver* observer) {
  state_->interpreter.scheduler().observer = observer;
  for (const auto& contexts : state_->contexts) contexts->counts = observer != nullptr && observer->wants_counts();
}

void Runner::set_print_stream(std::ostream* out) { state_->interpreter.steps().print_stream = out; }

void Runner::reset_tile(unsigned replica, TileId tile) {
  if (replica >= state_->program->replication || tile.index() >= state_->program->machine.tiles())
    fail(ErrorKind::index_error, "tile-range", "reset of tile {} of replica {}: there are {} tiles and {} replicas", tile.value, replica,
         state_->program->machine.tiles(), state_->program->replication);
  state_->contexts[replica]->fibers(tile).drop_all();
  state_->memory.reset_images(replica, tile);
  state_->initialise_globals(replica, tile);
}

char* Runner::tile_base(unsigned replica, TileId tile) { return state_->memory.tile(replica, tile); }

}  // namespace pando::exec
