#include "popops/Fill.hpp"
#include "popops/Zero.hpp"

#include <cstring>

#include <pando/ownership.hpp>

#include "poplibs/popops/data/parts.h"

namespace popops {

namespace {

using namespace poplar;

template <class To, class From>
std::uint64_t bits_as(From value) {
  const To converted = static_cast<To>(value);
  std::uint64_t bits = 0;
  std::memcpy(&bits, &converted, sizeof converted);
  return bits;
}

// The bits of an element of `type` that has that value.
template <class T>
std::uint64_t bits_of(const Type& type, T value) {
  if (type == FLOAT) return bits_as<float>(value);
  if (type == HALF) {
    const double wide = static_cast<double>(value);
    std::uint16_t bits = 0;
    copyDoubleToDeviceHalf(Target(), &wide, &bits, 1);
    return bits;
  }
  if (type == BOOL) return value != T(0);
  if (type == UNSIGNED_CHAR) return bits_as<unsigned char>(value);
  if (type == CHAR || type == SIGNED_CHAR) return bits_as<signed char>(value);
  if (type == SHORT) return bits_as<short>(value);
  if (type == UNSIGNED_SHORT) return bits_as<unsigned short>(value);
  if (type == INT) return bits_as<int>(value);
  if (type == UNSIGNED_INT) return bits_as<unsigned>(value);
  if (type == LONGLONG || type == LONG) return bits_as<long long>(value);
  if (type == UNSIGNED_LONGLONG || type == UNSIGNED_LONG) return bits_as<unsigned long long>(value);
  if (type == DOUBLE) return bits_as<double>(value);
  internal::fail("popops::fill", "no fill of tensors of type " + type.toString());
}

struct Filler {
  Graph& graph;
  const Tensor flat;  // as bits
  const std::size_t bytes;
  const internal::VertexPair vertex;
  const std::uint64_t value;

  Filler(Graph& graph, const char* where, const Tensor& t, std::uint64_t value)
      : graph(graph),
        flat(t.flatten().reinterpret(internal::bits_type(graph.getTarget().getTypeSize(t.elementType())))),
        bytes(graph.getTarget().getTypeSize(t.elementType())),
        vertex(internal::vertex_pair("Fill", flat.elementType().toString())),
        value(value) {
    pando::require_own(graph, t, where);
    if (t.containsConstant()) internal::fail(where, "a tensor of shape " + t.shapeToString() + " is to be filled that holds constants");
  }

  void tile(const ComputeSet& cs, unsigned tile, const std::vector<Interval>& regions) const {
    pando::require_own(graph, cs, "the compute set of a fill");
    internal::for_each_part_of_tile(graph, flat, regions, bytes, true, [&](const internal::Runs& runs) {
      const VertexRef v = internal::add_part(graph, cs, vertex, tile, runs, {{"out", &flat}});
      graph.setInitialValue(v["value"], static_cast<unsigned long long>(value));
    });
  }

  // Elements of a tile that occur twice are in one list of the mapping of their tile.
  void mapping(const ComputeSet& cs, const internal::Mapping& mapping) const {
    pando::require_own(graph, cs, "the compute set of a fill");
    for (unsigned t = 0; t < mapping.size(); ++t) tile(cs, t, mapping[t]);
  }
};

void fill_in(Graph& graph, const char* where, const Tensor& t, std::uint64_t value, program::Sequence& prog, const DebugContext& debug) {
  pando::require_own(graph, t, where);
  if (t.numElements() == 0) return;
  const ComputeSet cs = graph.addComputeSet(debug);
  Filler(graph, where, t, value).mapping(cs, graph.getTileMapping(t));
  prog.add(program::Execute(cs, debug));
}

}  // namespace

template <typename T>
void fill(Graph& graph, Tensor t, const std::vector<Interval>& tileRegions, unsigned tile, ComputeSet cs, T value) {
  Filler(graph, "popops::fill", t, bits_of(t.elementType(), value)).tile(cs, tile, tileRegions);
}

template <typename T>
void fill(Graph& graph, const Tensor& t, unsigned tile, ComputeSet cs, T value) {
  fill(graph, t, std::vector<Interval>{Interval(0, t.numElements())}, tile, cs, value);
}

template <typename T>
void fill(Graph& graph, const Tensor& t, const std::vector<std::vector<Interval>>& mapping, ComputeSet cs, T value) {
  Filler(graph, "popops::fill", t, bits_of(t.elementType(), value)).mapping(cs, mapping);
}

template <typename T>
void fill(Graph& graph, const Tensor& t, program::Sequence& prog, T value, const DebugContext& debug) {
  fill_in(graph, "popops::fill", t, bits_of(t.elementType(), value), prog, {debug, "Fill"});
}

#define POPOPS_FILL(T)                                                                                                  \
  template POPLAR_EXPORT void fill<T>(Graph&, Tensor, const std::vector<Interval>&, unsigned, ComputeSet, T);           \
  template POPLAR_EXPORT void fill<T>(Graph&, const Tensor&, unsigned, ComputeSet, T);                                  \
  template POPLAR_EXPORT void fill<T>(Graph&, const Tensor&, const std::vector<std::vector<Interval>>&, ComputeSet, T); \
  template POPLAR_EXPORT void fill<T>(Graph&, const Tensor&, program::Sequence&, T, const DebugContext&);
POPOPS_FILL(bool)
POPOPS_FILL(char)
POPOPS_FILL(signed char)
POPOPS_FILL(unsigned char)
POPOPS_FILL(short)
POPOPS_FILL(unsigned short)
POPOPS_FILL(int)
POPOPS_FILL(unsigned)
POPOPS_FILL(long)
POPOPS_FILL(unsigned long)
POPOPS_FILL(long long)
POPOPS_FILL(unsigned long long)
POPOPS_FILL(float)
POPOPS_FILL(double)
#undef POPOPS_FILL

// The bits of zero are zero in every type.
void zero(Graph& graph, Tensor t, const std::vector<Interval>& tileRegions, unsigned tile, ComputeSet cs) {
  Filler(graph, "popops::zero", t, 0).tile(cs, tile, tileRegions);
}

void zero(Graph& graph, const Tensor& t, unsigned tile, ComputeSet cs) {
  Filler(graph, "popops::zero", t, 0).tile(cs, tile, {Interval(0, t.numElements())});
}

void zero(Graph& graph, const Tensor& t, const std::vector<std::vector<Interval>>& mapping, ComputeSet cs) {
  Filler(graph, "popops::zero", t, 0).mapping(cs, mapping);
}

void zero(Graph& graph, const Tensor& t, program::Sequence& prog, const DebugContext& debug) {
  fill_in(graph, "popops::zero", t, 0, prog, {debug, "Zero"});
}

}  // namespace popops
