// Products with a sparse matrix whose blocks are known when the graph is built.
#pragma once

#include <poplar/Graph.hpp>
#include <poplar/Program.hpp>
#include <poplar/Type.hpp>
#include <poputil/TensorMetaData.hpp>

#include <memory>
#include <vector>

#include "poplibs/popsparse/terms/blocks.h"
#include "poplibs/popsparse/terms/options.h"

namespace popsparse {

// Places ascend; a tensor of the matrix's values has those of block after block, row by row.
struct Known {
  Shape shape;
  std::vector<Place> places;
};

// The values of the matrix, or of its transpose, on the tiles that multiply by them.
poplar::Tensor create_values(poplar::Graph& graph, const poplar::Type& type, const Known& matrix, std::size_t width, bool transposed,
                             const Options& options, const poplar::DebugContext& name);
// {rows, width}: rows of one part of the width together.
poplar::Tensor create_known_dense(poplar::Graph& graph, const poplar::Type& type, const Known& matrix, std::size_t width, bool transposed,
                                  const Options& options, const poplar::DebugContext& name);

// The matrix times x {columns, width}, or its transpose times x {rows, width}; sums of type options.partials, result of `type`.
poplar::Tensor multiply(poplar::Graph& graph, const Known& matrix, const poplar::Tensor& values, const poplar::Tensor& x, bool transposed,
                        const Options& options, const poplar::Type& type, poplar::program::Sequence& prog,
                        const poplar::DebugContext& name);

}  // namespace popsparse
