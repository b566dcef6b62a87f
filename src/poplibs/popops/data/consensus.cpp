// Questions about all elements of a tensor: each vertex answers for its part by what it returns, and the sync of the compute set
// brings the answers together.
#include <popops/AllTrue.hpp>
#include <popops/Fill.hpp>
#include <popops/NaN.hpp>

#include "poplibs/popops/data/parts.h"

namespace popops {

namespace {

using namespace poplar;

Tensor flag(Graph& graph, const DebugContext& debug) {
  const Tensor t = graph.addVariable(BOOL, {}, debug);
  graph.setTileMapping(t, 0);
  return t;
}

Tensor has(Graph& graph, const char* where, const Tensor& src, bool infinite, program::Sequence& prog, const DebugContext& debug) {
  const Type type = src.elementType();
  if (type != FLOAT && type != HALF) internal::fail(where, "the source is of type " + type.toString() + "; expected float or half");
  const Tensor found = flag(graph, {debug, "found"});
  if (src.numElements() == 0) {
    fill(graph, found, prog, false, debug);
    return found;
  }
  const ComputeSet search = graph.addComputeSet(debug), invert = graph.addComputeSet({debug, "Invert"});
  Tensor in = src.flatten();
  graph.reorderToSimplify(&in, {}, false);
  const internal::VertexPair vertex = internal::vertex_pair("HasNaN", type.toString());
  internal::for_each_part(graph, in, graph.getTileMapping(in), graph.getTarget().getTypeSize(type), true,
                          [&](unsigned tile, const internal::Runs& runs) {
                            const VertexRef v = internal::add_part(graph, search, vertex, tile, runs, {{"in", &in}});
                            graph.setInitialValue(v["infinite"], infinite);
                          });
  graph.setTileMapping(graph.addVertex(invert, "popops::InvertFlag", {{"flag", found}}), 0);
  prog.add(program::Execute(search, found, debug));
  prog.add(program::Execute(invert, debug));
  return found;
}

}  // namespace

Tensor hasNaN(Graph& graph, const Tensor& src, program::Sequence& prog, const DebugContext& debug) {
  return has(graph, "popops::hasNaN", src, false, prog, {debug, "HasNaN"});
}

Tensor hasNaNOrInf(Graph& graph, const Tensor& src, program::Sequence& prog, const DebugContext& debug) {
  return has(graph, "popops::hasNaNOrInf", src, true, prog, {debug, "HasNaNOrInf"});
}

Tensor allTrue(Graph& graph, Tensor a, program::Sequence& prog, const DebugContext& debug) {
  const Type type = a.elementType();
  if (type != BOOL && type != INT && type != UNSIGNED_INT)
    internal::fail("popops::allTrue", "the tensor is of type " + type.toString() + "; expected bool, int or unsigned int");
  const Tensor all = flag(graph, {debug, "allTrue"});
  if (a.numElements() == 0) {
    fill(graph, all, prog, true, debug);
    return all;
  }
  const ComputeSet cs = graph.addComputeSet({debug, "AllTrue"});
  const std::size_t bytes = graph.getTarget().getTypeSize(type);
  Tensor in = a.flatten().reinterpret(internal::bits_type(bytes));
  graph.reorderToSimplify(&in, {}, false);
  const std::string vertex = "popops::AllTrue<" + in.elementType().toString() + ">";
  internal::for_each_part(graph, in, graph.getTileMapping(in), bytes, true, [&](unsigned tile, const internal::Runs& runs) {
    graph.setTileMapping(graph.addVertex(cs, vertex, {{"in", in.slices(runs)}}), tile);
  });
  prog.add(program::Execute(cs, all, {debug, "AllTrue"}));
  return all;
}

}  // namespace popops
