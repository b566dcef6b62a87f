#include "popops/Cast.hpp"

#include <algorithm>
#include <optional>

#include <poputil/exceptions.hpp>

#include "poplibs/popops/data/number_kind.h"
#include "poplibs/popops/data/parts.h"

namespace popops {

namespace {

using namespace poplar;

std::optional<NumberKind> kind_of(const Type& type) {
  if (type == FLOAT) return NumberKind::kFloat;
  if (type == HALF) return NumberKind::kHalf;
  if (type == BOOL) return NumberKind::kBool;
  if (type == CHAR || type == SIGNED_CHAR) return NumberKind::kInt8;
  if (type == UNSIGNED_CHAR) return NumberKind::kUint8;
  if (type == SHORT) return NumberKind::kInt16;
  if (type == UNSIGNED_SHORT) return NumberKind::kUint16;
  if (type == INT) return NumberKind::kInt32;
  if (type == UNSIGNED_INT) return NumberKind::kUint32;
  if (type == LONGLONG || type == LONG) return NumberKind::kInt64;
  if (type == UNSIGNED_LONGLONG || type == UNSIGNED_LONG) return NumberKind::kUint64;
  return std::nullopt;
}

NumberKind checked_kind(const char* where, const Type& from, const Type& to, const Type& which) {
  if (const auto kind = kind_of(which)) return *kind;
  internal::fail(where, "no conversion from " + from.toString() + " to " + to.toString());
}

std::size_t most_on_a_tile(const internal::Mapping& mapping) {
  std::size_t most = 0;
  for (const auto& regions : mapping) {
    std::size_t n = 0;
    for (const Interval& i : regions) n += i.size();
    most = std::max(most, n);
  }
  return most;
}

// A result on few tiles is computed where the source is.
internal::Mapping mapping_of_work(const Graph& graph, const Tensor& in, const Tensor& out) {
  internal::Mapping mapping = graph.getTileMapping(out);
  if (in.containsAliases() || in.containsConstant()) return mapping;
  internal::Mapping of_source = graph.getTileMapping(in);
  return most_on_a_tile(of_source) * 4 < most_on_a_tile(mapping) ? of_source : mapping;
}

// From or to QUARTER, or both.
void add_quarter_vertices(Graph& graph, const char* where, const Tensor& src, const Tensor& dst, const ComputeSet& cs) {
  const Type from = src.elementType(), to = dst.elementType();
  const auto converts = [](const Type& type) { return type == FLOAT || type == HALF || type == QUARTER; };
  if (!converts(from) || !converts(to)) internal::fail(where, "no conversion from " + from.toString() + " to " + to.toString());
  for (const Tensor& t : {src, dst})
    if (t.elementType() == QUARTER && !t.hasMetadata()) internal::fail(where, "a tensor of type quarter has no metadata");
  internal::Mapping mapping = mapping_of_work(graph, src.flatten(), dst.flatten());
  const auto bits = [](const Tensor& t) { return t.elementType() == QUARTER ? t.flatten().reinterpret(UNSIGNED_CHAR) : t.flatten(); };
  const Tensor in = bits(src), out = bits(dst);
  const auto metadata = [](const Tensor& t) { return t.getMetadata().reshape({}).reinterpret(UNSIGNED_CHAR); };
  const std::string vertex = from == to      ? "popops::CastQuarterToQuarter"
                             : to == QUARTER ? "popops::CastToQuarter<" + from.toString() + ">"
                                             : "popops::CastFromQuarter<" + to.toString() + ">";
  internal::for_each_part(graph, out, mapping, 1, false, [&](unsigned tile, const internal::Runs& runs) {
    const VertexRef v = graph.addVertex(cs, vertex);
    graph.setTileMapping(v, tile);
    graph.connect(v["in"], in.slices(runs));
    graph.connect(v["out"], out.slices(runs));
    graph.connect(v["metadata"], metadata(to == QUARTER ? dst : src));
    if (from == to) graph.connect(v["metadataIn"], metadata(src));
  });
}

void add_vertices(Graph& graph, const char* where, const Tensor& src, const Tensor& dst, const ComputeSet& cs) {
  const Type from = src.elementType(), to = dst.elementType();
  internal::check_same_shape(where, "the source", src, "the destination", dst);
  internal::check_writable(where, "the destination", dst);
  if (from == QUARTER || to == QUARTER) return add_quarter_vertices(graph, where, src, dst, cs);
  const NumberKind from_kind = checked_kind(where, from, to, from), to_kind = checked_kind(where, from, to, to);
  if (dst.numElements() == 0) return;
  const Target& target = graph.getTarget();
  const std::size_t from_bytes = target.getTypeSize(from), to_bytes = target.getTypeSize(to);
  Tensor in = src.flatten().reinterpret(internal::bits_type(from_bytes)), out = dst.flatten().reinterpret(internal::bits_type(to_bytes));
  graph.reorderToSimplify(&out, {&in}, false);
  const internal::Mapping mapping = mapping_of_work(graph, in, out);
  const internal::VertexPair vertex = internal::vertex_pair("Cast", in.elementType().toString() + "," + out.elementType().toString());
  internal::for_each_part(graph, out, mapping, std::min(from_bytes, to_bytes), false, [&](unsigned tile, const internal::Runs& runs) {
    const VertexRef v = internal::add_part(graph, cs, vertex, tile, runs, {{"in", &in}, {"out", &out}});
    graph.setInitialValue(v["from"], static_cast<unsigned char>(from_kind));
    graph.setInitialValue(v["to"], static_cast<unsigned char>(to_kind));
  });
}

// The tensor that a cast makes. `metadata` is for QUARTER, and null without.
Tensor output(Graph& graph, const Tensor& src, const Type& type, const Tensor* metadata, const DebugContext& debug) {
  constexpr const char* where = "popops::cast";
  if (type == QUARTER) {
    if (metadata == nullptr && src.elementType() != QUARTER) internal::fail(where, "a result of type quarter needs a metadata tensor");
    return graph.clone(type, metadata == nullptr ? src.getMetadata() : *metadata, src, {debug, "cast"});
  }
  if (metadata != nullptr) internal::fail(where, "metadata is for results of type quarter, not " + type.toString());
  if (src.elementType() != QUARTER) checked_kind(where, src.elementType(), type, type);
  return internal::output_like(graph, type, src, {debug, "cast"});
}

// Metadata of the same bits can be copied with the elements.
bool is_copy(const Tensor& src, const Tensor& dst) {
  return src.elementType() == dst.elementType() &&
         (src.elementType() != QUARTER || (src.hasMetadata() && dst.hasMetadata() && src.getMetadata() == dst.getMetadata()));
}

}  // namespace

void cast(Graph& graph, Tensor src, Tensor dst, ComputeSet cs) { add_vertices(graph, "popops::cast", src, dst, cs); }

Tensor cast(Graph& graph, Tensor src, const Type& type, ComputeSet cs, const DebugContext& debug) {
  const Tensor dst = output(graph, src, type, nullptr, debug);
  cast(graph, src, dst, cs);
  return dst;
}

Tensor cast(Graph& graph, Tensor src, const Type& type, const Tensor& metadata, ComputeSet cs, const DebugContext& debug) {
  const Tensor dst = output(graph, src, type, &metadata, debug);
  cast(graph, src, dst, cs);
  return dst;
}

program::Program cast(Graph& graph, Tensor src, Tensor dst, const DebugContext& debug) {
  program::Sequence prog({}, debug);
  castWithOutput(graph, src, dst, prog, debug);
  return prog;
}

void castWithOutput(Graph& graph, const Tensor& src, const Tensor& dst, program::Sequence& prog, const DebugContext& debug) {
  constexpr const char* where = "popops::castWithOutput";
  if (is_copy(src, dst)) {
    internal::check_same_shape(where, "the source", src, "the destination", dst);
    internal::check_writable(where, "the destination", dst);
    prog.add(program::Copy(src, dst, false, {debug, "Cast"}));
    return;
  }
  const ComputeSet cs = graph.addComputeSet({debug, "Cast"});
  add_vertices(graph, where, src, dst, cs);
  if (dst.numElements() != 0) prog.add(program::Execute(cs, {debug, "Cast"}));
}

Tensor cast(Graph& graph, const Tensor& src, const Type& type, program::Sequence& prog, const DebugContext& debug) {
  const Tensor dst = output(graph, src, type, nullptr, debug);
  castWithOutput(graph, src, dst, prog, debug);
  return dst;
}

Tensor cast(Graph& graph, const Tensor& src, const Type& type, const Tensor& metadata, program::Sequence& prog, const DebugContext& debug) {
  const Tensor dst = output(graph, src, type, &metadata, debug);
  castWithOutput(graph, src, dst, prog, debug);
  return dst;
}

Tensor checkAccuracyWhenCast(Graph& graph, const Tensor& input, Type type, double tolerance, program::Sequence& prog,
                             const DebugContext& debug) {
  constexpr const char* where = "popops::checkAccuracyWhenCast";
  if (input.elementType() != FLOAT || type != HALF)
    internal::fail(where, "from " + input.elementType().toString() + " to " + type.toString() + "; expected from float to half");
  if (input.numElements() != 1) internal::fail(where, "the input has shape " + input.shapeToString() + "; expected one element");
  const Tensor out = graph.addVariable(BOOL, {}, {debug, "isAccurate"});
  const auto mapping = graph.getTileMapping(input, nullptr);
  unsigned tile = 0;
  for (unsigned t = 0; t < mapping.size(); ++t)
    if (!mapping[t].empty()) tile = t;
  graph.setTileMapping(out, tile);
  const ComputeSet cs = graph.addComputeSet({debug, "CheckAccuracyWhenCast"});
  const VertexRef v = graph.addVertex(cs, "popops::CheckCastAccuracy",
                                      {{"in", input.reshape({})}, {"out", out}, {"tolerance", static_cast<float>(tolerance)}});
  graph.setTileMapping(v, tile);
  prog.add(program::Execute(cs, {debug, "CheckAccuracyWhenCast"}));
  return out;
}

}  // namespace popops
