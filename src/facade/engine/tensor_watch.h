// Stops a run at the first step that changes a tensor (engine option pando.watch), and says who wrote it. It looks after each step at what
// the tiles of the step's stream hold. The observer that counts goes on behind it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "codelet/library.h"
#include "graph/graph.h"
#include "tile/observer.h"
#include "tile/program.h"

namespace pando::facade {

struct WatchSettings {
  std::vector<std::string> tensors;  // pando.watch: variables' names, or how these end, from a '/' on
  bool only_nan = false;             // pando.watchNaN: only NaN counts
  unsigned skip = 0;                 // pando.watchSkip: so many changes go by
};
// "w, layer/bias". Throws invalid_option for an empty name.
std::vector<std::string> parse_watch(const std::string& text);

// While it is there, the graph has a handle for each watched tensor: such a tensor keeps its place in memory for the whole program. Throws
// invalid_option, with similar names, if a name is no variable's.
class WatchedVariables {
 public:
  WatchedVariables(graph::Graph& graph, const WatchSettings& settings);
  ~WatchedVariables();
  WatchedVariables(const WatchedVariables&) = delete;
  WatchedVariables& operator=(const WatchedVariables&) = delete;

 private:
  graph::Graph& graph_;
  const std::size_t handles_;
};

class TensorWatch final : public tile::StepObserver {
 public:
  using Memory = std::function<const char*(unsigned replica, TileId tile)>;
  // Keeps references. Throws invalid_option if the program was compiled without watching these tensors, or if one of them has no NaN.
  TensorWatch(const tile::Program& program, const Library& library, const WatchSettings& settings, Memory memory);

  // `next` may be null. `clock`: who knows cycles.
  void before(tile::StepObserver* next, const tile::StepObserver* clock) {
    next_ = next;
    clock_ = clock;
  }

  void on_begin(unsigned program) override;
  // Throws application_runtime_error (watched-tensor).
  void on_step(const tile::StepEvent& event) override;
  void on_end() override {
    if (next_) next_->on_end();
  }
  void on_empty_channels() override {
    if (next_) next_->on_empty_channels();
  }
  bool wants_counts() const override { return next_ && next_->wants_counts(); }
  std::uint64_t cycles(ReplicaId replica, StreamId stream) const override { return clock_->cycles(replica, stream); }

 private:
  // Bytes that lie together on a tile, and where they are in the tensor.
  struct WatchedPiece {
    TileId tile;
    std::uint64_t offset = 0, bytes = 0, in_tensor = 0;
  };
  // The part of a tensor on one stream's tiles, and what it held last, [replica].
  struct Part {
    std::string name;
    ElementType type = ElementType::float_;
    std::vector<WatchedPiece> pieces;
    std::vector<std::string> held;
    std::vector<std::uint64_t> changes;
  };

  void add(const tile::HandleInfo& handle, const std::vector<std::uint32_t>& stream_of_tile);
  void look(Part& part, const tile::StepEvent& event);
  [[noreturn]] void stop(const Part& part, const WatchedPiece& piece, std::uint64_t element, const char* before, const char* now,
                         const tile::StepEvent& event) const;
  std::string writer(const tile::Instruction& in, TileId tile, std::uint64_t offset) const;
  std::string writer_in(std::uint32_t step, TileId tile, std::uint64_t offset) const;
  std::string mover(const tile::Exchange& exchange, std::uint32_t id, TileId tile, std::uint64_t offset) const;

  const tile::Program& program_;
  const Library& library_;
  const WatchSettings settings_;
  const Memory memory_;
  std::vector<std::vector<Part>> parts_;           // [stream]
  std::vector<std::vector<std::uint64_t>> steps_;  // [stream][replica]: observed since the run began
  unsigned index_ = 0;                             // of the program that runs
  tile::StepObserver* next_ = nullptr;
  const tile::StepObserver* clock_ = nullptr;
};

}  // namespace pando::facade
