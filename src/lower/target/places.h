// Places of the model level as tiles of the graph.
#pragma once

#include "ir/module.h"

#include <pando/host.hpp>
#include <poplar/Graph.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <utility>

namespace pando::lower {

class Places {
 public:
  // `io_tiles`: of each IPU, the last ones.
  Places(const ir::Module& module, poplar::Graph& graph, std::int64_t io_tiles) : module_(module), graph_(graph), io_tiles_(io_tiles) {}
  // All tiles.
  poplar::Graph& top() { return graph_; }
  // The tiles of a place.
  poplar::Graph& graph_at(const ir::Place& place);
  poplar::Graph& graph_of(ir::OpId op) { return graph_at(place_of(op)); }
  ir::Place place_of(ir::OpId op) const;
  // Whether both values' types say the same place.
  bool lie_together(ir::ValueId v, ir::ValueId w);
  std::int64_t io_tiles() const { return io_tiles_; }
  // While it lives, what is made belongs to that line of the user's program.
  SourceScope source_scope(ir::LocationId location) const;

 private:
  const ir::Module& module_;
  poplar::Graph& graph_;
  std::int64_t io_tiles_;
  std::map<std::pair<std::int32_t, int>, poplar::Graph> virtual_graphs_;
};

// A variable spread over the graph's tiles in order, beginning where they are least full.
poplar::Tensor add_linear(poplar::Graph& graph, const ir::Type& type, const std::string& name);

}  // namespace pando::lower
