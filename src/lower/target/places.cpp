#include "lower/target/places.h"

#include "lower/terms/element_types.h"

#include <pando/placing.hpp>
#include <poputil/TileMapping.hpp>

namespace pando::lower {

using ir::OpId;
using ir::ValueId;
using poplar::Tensor;

namespace {

// Elements of a vector on one tile, at least.
constexpr unsigned kVectorPart = 64;

}  // namespace

poplar::Graph& Places::graph_at(const ir::Place& place) {
  const auto ipus = graph_.getTarget().getNumIPUs();
  const std::int32_t device = place.device.value >= 0 ? place.device.value : 0;
  if (ipus == 1 && io_tiles_ == 0) return graph_;
  const bool io = io_tiles_ > 0 && place.tiles == ir::TileSet::io;
  const auto key = std::make_pair(device, io ? 1 : 0);
  const auto known = virtual_graphs_.find(key);
  if (known != virtual_graphs_.end()) return known->second;
  const unsigned tiles = graph_.getTarget().getTilesPerIPU();
  const unsigned compute = tiles - static_cast<unsigned>(io_tiles_);
  const unsigned first = static_cast<unsigned>(device) * tiles;
  poplar::Graph part = io ? graph_.createVirtualGraph(first + compute, first + tiles) : graph_.createVirtualGraph(first, first + compute);
  return virtual_graphs_.emplace(key, std::move(part)).first->second;
}

ir::Place Places::place_of(OpId op) const {
  for (ValueId v : module_.results(op)) {
    if (module_.type_of(v).place.device.known()) return module_.type_of(v).place;
  }
  for (ValueId v : module_.operands(op)) {
    if (module_.type_of(v).place.device.known()) return module_.type_of(v).place;
  }
  return {};
}

bool Places::lie_together(ValueId v, ValueId w) { return &graph_at(module_.type_of(v).place) == &graph_at(module_.type_of(w).place); }

SourceScope Places::source_scope(ir::LocationId location) const {
  if (!location.valid()) return SourceScope(graph_, "", 0);
  const ir::Location& at = module_.location(location);
  return SourceScope(graph_, at.file.c_str(), at.line);
}

Tensor add_linear(poplar::Graph& graph, const ir::Type& type, const std::string& name) {
  const Tensor t = graph.addVariable(element_type(type.dtype), extents(type.shape), name);
  // What is added to all rows of a matrix is read in parts of its blocks' width: they lie whole.
  poplar::Graph::TileToTensorMapping mapping = type.shape.size() == 1
                                                   ? poputil::calcLinearTileMapping(graph, t.shape(), kVectorPart, kVectorPart)
                                                   : poputil::calcLinearTileMapping(graph, t);
  std::vector<pando::TileBytes> form;
  for (unsigned tile = 0; tile < mapping.size(); ++tile)
    for (const poplar::Interval& i : mapping[tile]) form.push_back({tile, i.size() * graph.getTarget().getTypeSize(t.elementType())});
  poplar::Graph there = pando::rotated(graph, pando::choose_rotation(graph, form));
  there.setTileMapping(t, mapping);
  return t;
}

}  // namespace pando::lower
