#include <pando/cpu_device.hpp>
#include <popops/Cast.hpp>
#include <popops/SplineBasis.hpp>
#include <popops/SplineWeighting.hpp>

#include <algorithm>

#include <poputil/Util.hpp>

#include "poplibs/popops/data/parts.h"

namespace popops {

namespace {

using namespace poplar;

bool is_index(const Type& type) { return type == INT || type == UNSIGNED_INT; }

void check_type(const char* where, const char* name, const Tensor& t, const Type& type) {
  if (t.elementType() != type)
    internal::fail(where, std::string(name) + " is of type " + t.elementType().toString() + "; expected " + type.toString());
}

void check_shape(const char* where, const char* name, const Tensor& t, const std::vector<std::size_t>& shape) {
  if (t.shape() == shape) return;
  std::string expected;
  for (const std::size_t d : shape) expected += (expected.empty() ? "" : ",") + std::to_string(d);
  internal::fail(where, std::string(name) + " has shape " + t.shapeToString() + "; expected {" + expected + "}");
}

void check_floating(const char* where, const char* name, const Tensor& t) {
  if (t.elementType() != FLOAT && t.elementType() != HALF)
    internal::fail(where, std::string(name) + " is of type " + t.elementType().toString() + "; expected float or half");
}

void check_basis(const Tensor& pseudo, const Tensor& sizes, const Tensor& is_open, const Tensor& basis, const Tensor& index,
                 unsigned degree) {
  constexpr const char* where = "popops::splineBasis";
  if (degree < 1 || degree > 3) internal::fail(where, "degree " + std::to_string(degree) + "; expected 1, 2 or 3");
  check_floating(where, "pseudo", pseudo);
  if (pseudo.rank() != 2 || pseudo.dim(1) == 0)
    internal::fail(where, "pseudo has shape " + pseudo.shapeToString() + "; expected {edges, dimensions}");
  check_shape(where, "kernelSize", sizes, {pseudo.dim(1)});
  check_shape(where, "isOpenSpline", is_open, {pseudo.dim(1)});
  std::size_t points = 1;
  for (std::size_t d = 0; d < pseudo.dim(1); ++d) points *= degree + 1;
  check_shape(where, "basis", basis, {pseudo.dim(0), points});
  check_shape(where, "weightIndex", index, {pseudo.dim(0), points});
  check_type(where, "basis", basis, pseudo.elementType());
  if (!is_index(index.elementType()))
    internal::fail(where, "weightIndex is of type " + index.elementType().toString() + "; expected int or unsigned int");
  internal::check_writable(where, "basis", basis);
  internal::check_writable(where, "weightIndex", index);
}

void check_weighting(const Tensor& input, const Tensor& weight, const Tensor& basis, const Tensor& index) {
  constexpr const char* where = "popops::splineWeighting";
  check_floating(where, "input", input);
  if (input.rank() != 2) internal::fail(where, "input has shape " + input.shapeToString() + "; expected {edges, inputs}");
  if (weight.rank() != 3 || weight.dim(1) != input.dim(1))
    internal::fail(where, "weight has shape " + weight.shapeToString() + "; expected {kernels, inputs, outputs} for an input of shape " +
                              input.shapeToString());
  if (basis.rank() != 2 || basis.dim(0) != input.dim(0))
    internal::fail(
        where, "basis has shape " + basis.shapeToString() + "; expected {edges, points} for an input of shape " + input.shapeToString());
  check_shape(where, "weightIndex", index, basis.shape());
  check_type(where, "weight", weight, input.elementType());
  check_type(where, "basis", basis, input.elementType());
  if (!is_index(index.elementType()))
    internal::fail(where, "weightIndex is of type " + index.elementType().toString() + "; expected int or unsigned int");
}

// Calls f(tile, edges) for each vertex of an operation whose result has `rows`, of equal shape, one for an edge.
void for_each_part_of_edges(const Graph& graph, const internal::Mapping& edges, const std::function<void(unsigned, const Interval&)>& f) {
  for (unsigned tile = 0; tile < edges.size(); ++tile) {
    if (edges[tile].empty()) continue;
    for (const auto& part : poputil::splitRegionsBetweenWorkers(graph.getTarget(), edges[tile], 1))
      for (const Interval& i : part) f(tile, i);
  }
}

// How many parts the outputs are cut into: each tile has the weights of its part, which should be a small share of its memory.
std::size_t parts_of_outputs(const Target& target, const Tensor& weight, std::size_t edges) {
  constexpr std::size_t kBytes = 96 * 1024;
  if (pando::has_memory_for_all(target)) return 1;
  const std::size_t bytes = weight.numElements() * target.getTypeSize(weight.elementType());
  // Edges alone may be too few for nearly all tiles.
  const std::size_t wanted = target.getNumTiles() * 9 / 10;
  const std::size_t for_memory = (bytes + kBytes - 1) / kBytes, for_tiles = edges == 0 ? 1 : (wanted + edges - 1) / edges;
  return std::max<std::size_t>(1, std::min(weight.dim(2), std::max(for_memory, for_tiles)));
}

}  // namespace

void splineBasis(Graph& graph, const Tensor& pseudo, const Tensor& kernelSize, const Tensor& isOpenSpline, const Tensor& basis,
                 const Tensor& weightIndex, unsigned degree, program::Sequence& prog, const DebugContext& debug) {
  check_basis(pseudo, kernelSize, isOpenSpline, basis, weightIndex, degree);
  if (basis.numElements() == 0) return;
  const Tensor sizes = kernelSize.elementType() == INT ? kernelSize : cast(graph, kernelSize, INT, prog, debug);
  const Tensor is_open = isOpenSpline.elementType() == INT ? isOpenSpline : cast(graph, isOpenSpline, INT, prog, debug);
  const Tensor index = weightIndex.reinterpret(INT);
  const internal::Mapping edges =
      internal::spread(internal::owners_of(graph, basis.flatten(), basis.dim(1)), graph.getTarget().getNumTiles());
  const ComputeSet cs = graph.addComputeSet({debug, "SplineBasis"});
  const std::string vertex = "popops::SplineBasis<" + pseudo.elementType().toString() + ">";
  for_each_part_of_edges(graph, edges, [&](unsigned tile, const Interval& i) {
    const VertexRef v = graph.addVertex(cs, vertex,
                                        {{"pseudo", pseudo.slice(i).flatten()},
                                         {"kernelSize", sizes},
                                         {"isOpen", is_open},
                                         {"basis", basis.slice(i).flatten()},
                                         {"weightIndex", index.slice(i).flatten()},
                                         {"degree", degree}});
    graph.setTileMapping(v, tile);
  });
  prog.add(program::Execute(cs, {debug, "SplineBasis"}));
}

Tensor splineWeighting(Graph& graph, const Tensor& input, const Tensor& weight, const Tensor& basis, const Tensor& weightIndex,
                       program::Sequence& prog, const DebugContext& debug) {
  check_weighting(input, weight, basis, weightIndex);
  const std::size_t edges = input.dim(0), outputs = weight.dim(2), parts = parts_of_outputs(graph.getTarget(), weight, edges);
  const unsigned tiles = graph.getTarget().getNumTiles();
  const Tensor index = weightIndex.reinterpret(INT);
  const ComputeSet cs = graph.addComputeSet({debug, "SplineWeighting"});
  const std::string vertex = "popops::SplineWeighting<" + input.elementType().toString() + ">";
  std::vector<Tensor> results;
  for (std::size_t part = 0; part < parts; ++part) {
    const std::size_t begin = outputs * part / parts, end = outputs * (part + 1) / parts;
    const Tensor mine = weight.slice(begin, end, 2).flatten(),
                 result = graph.addVariable(input.elementType(), {edges, end - begin}, {debug, "weighted"});
    results.push_back(result);
    if (result.numElements() == 0) continue;
    // Part p of the outputs is on its own range of the tiles.
    const unsigned first = static_cast<unsigned>(tiles * part / parts),
                   last = std::max(first + 1, static_cast<unsigned>(tiles * (part + 1) / parts));
    internal::Mapping mapping(tiles);
    for (unsigned tile = first; tile < last; ++tile) {
      const std::size_t share = tile - first, among = last - first;
      const Interval i(edges * share / among, edges * (share + 1) / among);
      if (i.size() != 0) mapping[tile].push_back(i);
    }
    graph.setTileMapping(result.flatten(), internal::of_elements(mapping, end - begin));
    for_each_part_of_edges(graph, mapping, [&](unsigned tile, const Interval& i) {
      const VertexRef v = graph.addVertex(cs, vertex,
                                          {{"input", input.slice(i).flatten()},
                                           {"weight", mine},
                                           {"basis", basis.slice(i).flatten()},
                                           {"weightIndex", index.slice(i).flatten()},
                                           {"out", result.slice(i).flatten()},
                                           {"edges", static_cast<unsigned>(i.size())},
                                           {"kernels", static_cast<unsigned>(weight.dim(0))}});
      graph.setTileMapping(v, tile);
    });
  }
  prog.add(program::Execute(cs, {debug, "SplineWeighting"}));
  return concat(results, 1);
}

}  // namespace popops
