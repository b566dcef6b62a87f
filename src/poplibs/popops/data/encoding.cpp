#include "popops/Encoding.hpp"

#include <popops/Cast.hpp>

#include "poplibs/popops/data/parts.h"

namespace popops {

namespace {

using namespace poplar;

// The intervals of several runs, in one list.
std::vector<Interval> flattened(const internal::Runs& runs) {
  std::vector<Interval> out;
  for (const auto& run : runs) out.insert(out.end(), run.begin(), run.end());
  return out;
}

void iota_from(Graph& graph, const Tensor& t, long long start, program::Sequence& prog, const DebugContext& debug) {
  const Type type = t.elementType();
  if (t.rank() != 1) internal::fail("popops::iota", "the tensor has shape " + t.shapeToString() + "; expected rank 1");
  if (type != INT && type != UNSIGNED_INT && type != FLOAT && type != HALF)
    internal::fail("popops::iota", "the tensor is of type " + type.toString() + "; expected int, unsigned int, float or half");
  internal::check_writable("popops::iota", "the tensor", t);
  if (t.numElements() == 0) return;
  const ComputeSet cs = graph.addComputeSet({debug, "Iota"});
  const std::string vertex = "popops::Iota<" + type.toString() + ">";
  internal::for_each_part(graph, t, graph.getTileMapping(t), graph.getTarget().getTypeSize(type), false,
                          [&](unsigned tile, const internal::Runs& runs) {
                            const std::vector<Interval> intervals = flattened(runs);
                            std::vector<long long> first;
                            for (const Interval& i : intervals) first.push_back(start + static_cast<long long>(i.begin()));
                            const VertexRef v = graph.addVertex(cs, vertex);
                            graph.setTileMapping(v, tile);
                            graph.connect(v["out"], t.slices(intervals));
                            graph.setInitialValue(v["first"], first);
                          });
  prog.add(program::Execute(cs, {debug, "Iota"}));
}

struct OneHot {
  Tensor indices;  // UNSIGNED_INT
  Tensor encoded;  // bits
  std::string vertex;
  std::size_t bytes;
};

OneHot checked(Graph& graph, Tensor indices, const Tensor& encoded, const char* vertex, program::Sequence& prog,
               const DebugContext& debug) {
  constexpr const char* where = "popops::encodeOneHot";
  std::vector<std::size_t> expected = indices.shape();
  expected.push_back(encoded.rank() == 0 ? 0 : encoded.dim(static_cast<unsigned>(encoded.rank() - 1)));
  if (encoded.shape() != expected)
    internal::fail(where, "the result has shape " + encoded.shapeToString() + "; expected that of the indices, " + indices.shapeToString() +
                              ", and the classes as last dimension");
  internal::check_writable(where, "the result", encoded);
  if (indices.elementType() != UNSIGNED_INT && indices.elementType() != INT) indices = cast(graph, indices, INT, prog, debug);
  OneHot out;
  out.bytes = graph.getTarget().getTypeSize(encoded.elementType());
  out.indices = indices.flatten().reinterpret(UNSIGNED_INT);
  out.encoded = encoded.flatten().reinterpret(internal::bits_type(out.bytes));
  out.vertex = std::string("popops::") + vertex + "<" + out.encoded.elementType().toString() + ">";
  return out;
}

// Adds a vertex for each part; `finish` connects what is on and off.
void add_vertices(Graph& graph, const ComputeSet& cs, const OneHot& op, const std::function<void(const VertexRef&)>& finish) {
  const std::size_t classes = op.encoded.numElements() / op.indices.numElements();
  internal::for_each_part(graph, op.encoded, graph.getTileMapping(op.encoded), op.bytes, false,
                          [&](unsigned tile, const internal::Runs& runs) {
                            const std::vector<Interval> intervals = flattened(runs);
                            std::vector<Interval> rows;
                            std::vector<unsigned> begin;
                            for (const Interval& i : intervals) {
                              rows.emplace_back(i.begin() / classes, (i.end() + classes - 1) / classes);
                              begin.push_back(static_cast<unsigned>(i.begin() % classes));
                            }
                            const VertexRef v = graph.addVertex(cs, op.vertex);
                            graph.setTileMapping(v, tile);
                            graph.connect(v["out"], op.encoded.slices(intervals));
                            graph.connect(v["indices"], op.indices.slices(rows));
                            graph.setInitialValue(v["begin"], begin);
                            graph.setInitialValue(v["classes"], static_cast<unsigned>(classes));
                            finish(v);
                          });
}

// The bits of 1 in a type.
unsigned long long bits_of_one(const Type& type) {
  if (type == FLOAT) return 0x3f800000;
  if (type == HALF) return 0x3c00;
  return 1;
}

}  // namespace

void iota(Graph& graph, const Tensor& t, unsigned start, program::Sequence& prog, const DebugContext& debug) {
  iota_from(graph, t, static_cast<long long>(start), prog, debug);
}

void iota(Graph& graph, const Tensor& t, int start, program::Sequence& prog, const DebugContext& debug) {
  iota_from(graph, t, start, prog, debug);
}

void encodeOneHot(Graph& graph, const Tensor& indices, const Tensor& encoded, program::Sequence& prog, const DebugContext& debug) {
  const OneHot op = checked(graph, indices, encoded, "OneHot", prog, debug);
  if (encoded.numElements() == 0) return;
  const ComputeSet cs = graph.addComputeSet({debug, "OneHot"});
  add_vertices(graph, cs, op, [&](const VertexRef& v) {
    graph.setInitialValue(v["on"], bits_of_one(encoded.elementType()));
    graph.setInitialValue(v["off"], 0u);
  });
  prog.add(program::Execute(cs, {debug, "OneHot"}));
}

void encodeOneHot(Graph& graph, const Tensor& indices, const Tensor& encoded, program::Sequence& prog, const Tensor& on, const Tensor& off,
                  const DebugContext& debug) {
  for (const auto& [name, t] : {std::pair<const char*, const Tensor*>{"on", &on}, {"off", &off}})
    if (t->numElements() != 1 || t->elementType() != encoded.elementType())
      internal::fail("popops::encodeOneHot", std::string(name) + " is " + t->elementType().toString() + t->shapeToString() +
                                                 "; expected one element of type " + encoded.elementType().toString());
  const OneHot op = checked(graph, indices, encoded, "OneHotTensor", prog, debug);
  if (encoded.numElements() == 0) return;
  const ComputeSet cs = graph.addComputeSet({debug, "OneHot"});
  const Tensor on_bits = on.reshape({}).reinterpret(op.encoded.elementType()),
               off_bits = off.reshape({}).reinterpret(op.encoded.elementType());
  add_vertices(graph, cs, op, [&](const VertexRef& v) {
    graph.connect(v["on"], on_bits);
    graph.connect(v["off"], off_bits);
  });
  prog.add(program::Execute(cs, {debug, "OneHot"}));
}

}  // namespace popops
