// Products with a sparse matrix [rows][columns] that may change, and what their operands look like on tiles.
#pragma once

#include <poplar/Graph.hpp>
#include <poplar/Program.hpp>
#include <popsparse/SparseTensor.hpp>

#include "poplibs/popsparse/dynamic/plan.h"

namespace popsparse {

dynamic::SparseTensor create_sparse(poplar::Graph& graph, const SparsePlan& plan, const poplar::DebugContext& name);
// {columns, width}, each part of it together.
poplar::Tensor create_dense(poplar::Graph& graph, const SparsePlan& plan, const poplar::DebugContext& name);

// Of a sparse tensor. They throw poplibs_error for tensors of other sizes: {parts, bucket_words}, {parts, bucket_values}.
poplar::Tensor words_of(const char* function, const SparsePlan& plan, const poplar::Tensor& words);
poplar::Tensor values_of(const char* function, const SparsePlan& plan, const poplar::Tensor& values);

// The matrix times x {columns, width}, or its transpose times x {rows, width}.
poplar::Tensor multiply(poplar::Graph& graph, const SparsePlan& plan, const dynamic::SparseTensor& matrix, const poplar::Tensor& x,
                        bool transposed, poplar::program::Sequence& prog, const poplar::DebugContext& name);

// The gradient {parts * bucket_values} of the values, from that of the product, y {rows, width}, and x {columns, width}.
poplar::Tensor gradient(poplar::Graph& graph, const SparsePlan& plan, const poplar::Tensor& words, const poplar::Tensor& y,
                        const poplar::Tensor& x, poplar::program::Sequence& prog, const poplar::DebugContext& name);

}  // namespace popsparse
