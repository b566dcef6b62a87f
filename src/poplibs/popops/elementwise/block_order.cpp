#include "block_order.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace popops::internal {

using poplar::Tensor;

namespace {

constexpr std::size_t kLeast = 32, kLeastWidth = 8;  // elements of a block, and of its rows
constexpr std::size_t kFar = std::numeric_limits<std::size_t>::max();

// Elements from the first one on that lie in one piece.
std::size_t first_piece(const Tensor& flat) {
  std::size_t size = flat.numElements();
  for (const poplar::Interval& i : flat.getContiguousRegions())
    if (i.begin() == 0) size = i.size();
  return size;
}

// Between the first and the second index of a dimension; kFar if these lie in different variables.
std::size_t distance_in(const Tensor& t, unsigned dimension) {
  std::vector<std::size_t> begins(t.rank(), 0), ends(t.rank(), 1);
  ends[dimension] = 2;
  const std::vector<poplar::VariableInterval> regions = t.slice(begins, ends).getVarRegions();
  if (regions.size() == 1) return regions[0].interval.size() == 2 ? 1 : kFar;
  if (regions.size() != 2 || regions[0].var != regions[1].var) return kFar;
  const std::size_t a = regions[0].interval.begin(), b = regions[1].interval.begin();
  return a == b ? kFar : std::max(a, b) - std::min(a, b);
}

}  // namespace

BlockOrder::Block BlockOrder::at(std::size_t position) const {
  Block b;
  b.row = position / (height * columns) * height;
  const std::size_t tall = std::min(height, rows - b.row), strip = b.row * columns, inside = position - strip;
  b.column = std::min(inside / (tall * width), columns / width) * width;
  b.width = std::min(width, columns - b.column);
  b.begin = strip + b.column * tall;
  b.end = b.begin + b.width * tall;
  return b;
}

Tensor BlockOrder::apply(const Tensor& matrix) const {
  if (rows % height == 0 && columns % width == 0)
    return matrix.reshape({rows / height, height, columns / width, width}).dimShuffle({0, 2, 1, 3}).flatten();
  std::vector<Tensor> parts;
  const std::size_t whole = columns / width * width;
  for (std::size_t row = 0; row < rows; row += height) {
    const Tensor strip = matrix.slice(row, std::min(rows, row + height));
    if (whole > 0) parts.push_back(strip.slice(0, whole, 1).reshape({strip.dim(0), whole / width, width}).dimShuffle({1, 0, 2}).flatten());
    if (whole < columns) parts.push_back(strip.slice(whole, columns, 1).flatten());
  }
  return poplar::concat(parts);
}

std::optional<BlockOrder> block_order_of(const Tensor& matrix) {
  BlockOrder order{matrix.dim(0), matrix.dim(1), 0, 0};
  order.width = std::min(order.columns, first_piece(matrix[0]));
  order.height = first_piece(matrix.slice(0, order.width, 1).flatten()) / order.width;
  if (order.width < std::min(kLeastWidth, order.columns) || order.width * order.height < std::min(kLeast, matrix.numElements()))
    return std::nullopt;
  return order;
}

std::vector<unsigned> memory_order(const Tensor& t) {
  std::vector<unsigned> order(t.rank());
  std::iota(order.begin(), order.end(), 0u);
  if (t.numElements() == 0) return order;
  std::vector<std::size_t> distance(t.rank(), 0);
  for (unsigned d = 0; d < t.rank(); ++d)
    if (t.dim(d) > 1) distance[d] = distance_in(t, d);
  // Dimensions of one element stay where they are.
  std::vector<unsigned> greater;
  for (const unsigned d : order)
    if (t.dim(d) > 1) greater.push_back(d);
  std::stable_sort(greater.begin(), greater.end(), [&](unsigned a, unsigned b) { return distance[a] > distance[b]; });
  for (std::size_t i = 0, next = 0; i < order.size(); ++i)
    if (t.dim(static_cast<unsigned>(i)) > 1) order[i] = greater[next++];
  return order;
}

}  // namespace popops::internal
