// What moves between tiles: groups of elements well, single elements that lie apart at a high price.
#pragma once

#include <poplar/Graph.hpp>
#include <poplar/Program.hpp>

#include <cstddef>
#include <string>

namespace pando::lower {

// Elements that follow each other, at least, for them to be moved together.
constexpr std::size_t kMovedTogether = 16;

// Whether elements of the last dimension lie apart from each other, those of the one before it do not, and there are so many that moving
// them one by one takes long: a transposed matrix.
bool lies_turned(const poplar::Tensor& t);

// A copy whose rows are whole: of a tensor that lies turned, with popops' vertices.
poplar::Tensor in_rows(poplar::Graph& graph, const poplar::Tensor& turned, poplar::program::Sequence& prog, const std::string& name);

}  // namespace pando::lower
