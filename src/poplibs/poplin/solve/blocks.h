// What solving with triangles and factoring share: matrices in groups, block by block.
#pragma once

#include <poplar/Graph.hpp>
#include <poplar/OptionFlags.hpp>
#include <poplar/Program.hpp>
#include <poplin/MatMul.hpp>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace poplin::solve {

struct Options {
  std::size_t block = 64;
  poplar::OptionFlags products;  // those of matrix products
};
Options parse_options(const poplar::OptionFlags& flags);

// Throws poplibs_error unless these are square matrices of a floating type.
void expect_square(const poplar::Type& type, const std::vector<std::size_t>& shape, const std::string& function);
std::size_t groups_of(const std::vector<std::size_t>& shape);
// {..., rows, columns} as {groups, rows, columns}.
poplar::Tensor grouped(const poplar::Tensor& t);
// Rows and columns of all groups.
poplar::Tensor box(const poplar::Tensor& t, poplar::Interval rows, poplar::Interval columns);

using Products = std::vector<std::pair<MatMulParams, poplar::OptionFlags>>;

// Of each row b of \p rows, {groups, n, size}, the solution of L x = b, \p triangle being L, {groups, size, size}: a new tensor.
poplar::Tensor solve_rows(poplar::Graph& graph, const poplar::Tensor& triangle, const poplar::Tensor& rows, bool unit_diagonal,
                          poplar::program::Sequence& prog, const poplar::DebugContext& debug);

}  // namespace poplin::solve
