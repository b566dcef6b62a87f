#include "popops/Pad.hpp"

#include <algorithm>
#include <functional>

#include "poplibs/popops/data/parts.h"

namespace popops {

namespace {

using namespace poplar;
using padding::MappingMethod;

constexpr const char* kWhere = "popops::pad";
using Amounts = std::vector<std::ptrdiff_t>;
// The padding of `amount` elements of dimension `dim` of `t`, on its lower or upper side.
using MakePadding = std::function<Tensor(const Tensor& t, std::size_t amount, unsigned dim, bool upper)>;

Tensor cropped(const Tensor& t, std::ptrdiff_t lower, std::ptrdiff_t upper, unsigned dim) {
  const std::ptrdiff_t size = static_cast<std::ptrdiff_t>(t.dim(dim));
  const std::ptrdiff_t begin = std::max<std::ptrdiff_t>(0, -lower), end = size - std::max<std::ptrdiff_t>(0, -upper);
  if (begin > end)
    internal::fail(kWhere, "padding of " + std::to_string(lower) + " and " + std::to_string(upper) + " removes more than dimension " +
                               std::to_string(dim) + " of a tensor of shape " + t.shapeToString() + " has");
  return begin == 0 && end == size ? t : t.slice(static_cast<std::size_t>(begin), static_cast<std::size_t>(end), dim);
}

Tensor padded(const Tensor& t, std::ptrdiff_t lower, std::ptrdiff_t upper, unsigned dim, const MakePadding& make) {
  if (dim >= t.rank()) internal::fail(kWhere, "dimension " + std::to_string(dim) + " of a tensor of shape " + t.shapeToString());
  const Tensor kept = cropped(t, lower, upper, dim);
  std::vector<Tensor> parts;
  if (lower > 0) parts.push_back(make(kept, static_cast<std::size_t>(lower), dim, false));
  parts.push_back(kept);
  if (upper > 0) parts.push_back(make(kept, static_cast<std::size_t>(upper), dim, true));
  return parts.size() == 1 ? kept : concat(parts, dim);
}

Tensor padded(const Tensor& t, const Amounts& lower, const Amounts& upper, const MakePadding& make) {
  if (lower.size() != t.rank() || upper.size() != t.rank())
    internal::fail(kWhere, std::to_string(lower.size()) + " lower and " + std::to_string(upper.size()) +
                               " upper amounts for a tensor of shape " + t.shapeToString());
  Tensor out = t;
  for (unsigned dim = 0; dim < t.rank(); ++dim) out = padded(out, lower[dim], upper[dim], dim, make);
  return out;
}

std::vector<std::size_t> shape_of_padding(const Tensor& t, std::size_t amount, unsigned dim) {
  std::vector<std::size_t> shape = t.shape();
  shape[dim] = amount;
  return shape;
}

// Each element of `padding` on the tile of the element of t's edge next to it.
void map_to_edge(Graph& graph, const Tensor& padding, const Tensor& t, unsigned dim, bool upper) {
  const std::size_t size = t.dim(dim);
  if (padding.numElements() == 0) return;
  graph.setTileMapping(padding, 0);  // what has no neighbour on a tile
  if (size == 0) return;
  const Tensor edge = upper ? t.slice(size - 1, size, dim) : t.slice(0, 1, dim);
  const Tensor next = edge.broadcast(static_cast<unsigned>(padding.dim(dim)), dim);
  graph.setTileMapping(padding.flatten(), graph.getTileMapping(next.flatten(), nullptr));
}

template <class T>
MakePadding constants(Graph& graph, T value, MappingMethod method) {
  return [&graph, value, method](const Tensor& t, std::size_t amount, unsigned dim, bool upper) {
    const Tensor padding = graph.addConstant(t.elementType(), shape_of_padding(t, amount, dim), value, "padding");
    if (method == MappingMethod::ZERO) graph.setTileMapping(padding, 0);
    if (method == MappingMethod::EDGE) map_to_edge(graph, padding, t, dim, upper);
    return padding;
  };
}

MakePadding repeated(const Tensor& t, const Tensor& value) {
  if (value.numElements() != 1 || value.elementType() != t.elementType())
    internal::fail(kWhere, "the padding is " + value.elementType().toString() + value.shapeToString() + "; expected one element of type " +
                               t.elementType().toString());
  return [value](const Tensor& of, std::size_t amount, unsigned dim, bool) {
    const std::vector<std::size_t> shape = shape_of_padding(of, amount, dim);
    std::size_t n = 1;
    for (const std::size_t d : shape) n *= d;
    return value.flatten().broadcast(static_cast<unsigned>(n), 0).reshape(shape);
  };
}

Tensor elements_of(const Tensor& t, std::size_t amount, unsigned dim, bool upper, padding::Type type) {
  const std::size_t size = t.dim(dim), needed = type == padding::Type::EDGE ? 1 : amount + 1;
  if (size < needed)
    internal::fail(kWhere, std::to_string(amount) + (type == padding::Type::EDGE ? " edge" : " reflected") + " elements for dimension " +
                               std::to_string(dim) + " of a tensor of shape " + t.shapeToString() + ", which needs " +
                               std::to_string(needed));
  if (type == padding::Type::EDGE)
    return (upper ? t.slice(size - 1, size, dim) : t.slice(0, 1, dim)).broadcast(static_cast<unsigned>(amount), dim);
  return (upper ? t.slice(size - 1 - amount, size - 1, dim) : t.slice(1, amount + 1, dim)).reverse(dim);
}

MakePadding of_the_tensor(padding::Type type) {
  return [type](const Tensor& t, std::size_t amount, unsigned dim, bool upper) { return elements_of(t, amount, dim, upper, type); };
}

}  // namespace

Tensor pad(Graph& graph, const Tensor& t, const Amounts& lower, const Amounts& upper, float val, MappingMethod method) {
  return padded(t, lower, upper, constants(graph, val, method));
}

Tensor pad(Graph& graph, const Tensor& t, const Amounts& lower, const Amounts& upper, int val, MappingMethod method) {
  return padded(t, lower, upper, constants(graph, val, method));
}

Tensor pad(Graph&, const Tensor& t, const Amounts& lower, const Amounts& upper, const Tensor& val, MappingMethod) {
  return padded(t, lower, upper, repeated(t, val));
}

Tensor pad(Graph& graph, const Tensor& t, std::ptrdiff_t lower, std::ptrdiff_t upper, unsigned dim, float val, MappingMethod method) {
  return padded(t, lower, upper, dim, constants(graph, val, method));
}

Tensor pad(Graph& graph, const Tensor& t, std::ptrdiff_t lower, std::ptrdiff_t upper, unsigned dim, int val, MappingMethod method) {
  return padded(t, lower, upper, dim, constants(graph, val, method));
}

Tensor pad(Graph&, const Tensor& t, std::ptrdiff_t lower, std::ptrdiff_t upper, unsigned dim, const Tensor& val, MappingMethod) {
  return padded(t, lower, upper, dim, repeated(t, val));
}

Tensor pad(const Tensor& t, const Amounts& lower, const Amounts& upper, padding::Type type) {
  return padded(t, lower, upper, of_the_tensor(type));
}

Tensor pad(const Tensor& t, std::ptrdiff_t lower, std::ptrdiff_t upper, unsigned dim, padding::Type type) {
  return padded(t, lower, upper, dim, of_the_tensor(type));
}

}  // namespace popops
