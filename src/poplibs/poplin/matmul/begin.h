// Where on the tiles a product begins: the rotation (pando/placing.hpp) of the graph that it is laid out on. New matrices begin where the
// tiles are least full; a product where the matrix lies that it would be dear to move.
#pragma once

#include <poplar/Graph.hpp>

#include "poplibs/poplin/matmul/blocked.h"
#include "poplibs/poplin/matmul/orient.h"

namespace poplin::internal::matmul {

// Of a new matrix in blocks, which holds values between runs.
unsigned rotation_of_new(const poplar::Graph& graph, const Blocks& blocks, const poplar::Type& type);
// Of a new matrix of a plan, of so many elements.
unsigned rotation_of_new(const poplar::Graph& graph, const Product& product, const poplar::Type& type, std::size_t elements);

// Of a product in blocks: at the tile that the options name; beside a B of one block; else where its tiles are least full.
unsigned rotation_in_blocks(const poplar::Graph& graph, const Problem& problem, const poplar::Tensor& b);
// Of a product by plan: as the result lies, if that is updated in place; as the larger operand that lies as the plan has it; else where the
// tiles are least full. `out` may be invalid.
unsigned rotation_by_plan(const poplar::Graph& graph, const Oriented& product, const poplar::Tensor& out);

}  // namespace poplin::internal::matmul
