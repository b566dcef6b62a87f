#ifndef poputil_cyclesTables_hpp
#define poputil_cyclesTables_hpp

// How libraries of codelets write and register their cycle estimates: a function getPerfEstimateForNAME(vertex, target, template
// parameters ...) for each vertex, and a table with a row for each instantiation.

#include <poplar/Graph.hpp>
#include <poplar/PerfEstimateFunc.hpp>
#include <poplar/Target.hpp>
#include <poplar/VectorLayout.hpp>
#include <poplar/VertexIntrospector.hpp>

#include <poputil/VertexTemplates.hpp>
#include <poputil/exceptions.hpp>

#include <cstdint>
#include <functional>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#define MAKE_PERF_ESTIMATOR_NAME(codelet) getPerfEstimateFor##codelet
/// A row for a vertex that is no template.
#define CYCLE_ESTIMATOR_ENTRY_NOPARAMS(ns, codelet) \
  poputil::internal::makePerfEstimatorEntry(#ns "::" #codelet, MAKE_PERF_ESTIMATOR_NAME(codelet))
/// A row for an instantiation with these parameters, which the estimator gets as well.
#define CYCLE_ESTIMATOR_ENTRY(ns, codelet, ...) \
  poputil::internal::makePerfEstimatorEntry(#ns "::" #codelet, MAKE_PERF_ESTIMATOR_NAME(codelet), __VA_ARGS__)

// In an estimator: a field of the vertex, or its values, as a local variable of the same name.
#define CODELET_FIELD(field) const auto field = vertex.getFieldInfo(#field)
#define CODELET_SCALAR_VAL(field, type) const auto field = vertex.getFieldInfo(#field).getInitialValue<type>(target);
#define CODELET_VECTOR_VALS(field, type) const auto field = vertex.getFieldInfo(#field).getInitialValues<type>(target);
#define CODELET_VECTOR_2D_VALS(field, type) const auto field = vertex.getFieldInfo(#field).getInitialValues<std::vector<type>>(target);

namespace poputil {
namespace internal {

using PerfEstimatorTable = std::vector<std::pair<std::string, poplar::PerfEstimateFunc>>;

/// The name of the instantiation and its estimator.
template <typename F, typename... Args>
inline std::pair<std::string, poplar::PerfEstimateFunc> makePerfEstimatorEntry(const std::string& codelet, F f, Args&&... args) {
  return {poputil::templateVertex(codelet, args...), std::bind(f, std::placeholders::_1, std::placeholders::_2, args...)};
}

/// Registers all rows; the graph must have the codelets.
inline void registerPerfFunctions(poplar::Graph& graph, const PerfEstimatorTable& table) {
  for (const auto& row : table) graph.registerPerfEstimator(row.first, row.second);
}

/// Cycles to turn a field of this layout into a pointer (and a length).
inline std::uint64_t getUnpackCost(const poplar::layout::Vector layout) {
  switch (layout) {
    case poplar::layout::Vector::ShortSpan:
    case poplar::layout::Vector::ScaledPtr32: return 2;
    case poplar::layout::Vector::ScaledPtr64:
    case poplar::layout::Vector::ScaledPtr128: return 1;
    case poplar::layout::Vector::NotAVector:
    case poplar::layout::Vector::Span:
    case poplar::layout::Vector::OnePtr: break;
  }
  return 0;
}

/// Cycles to find the list of descriptors of a field of vectors. Throws poplibs_error for layouts without such a list.
inline std::uint64_t getUnpackCost(const poplar::layout::VectorList layout) {
  if (layout == poplar::layout::VectorList::DeltaN) return getUnpackCost(poplar::layout::Vector::ScaledPtr32);
  if (layout == poplar::layout::VectorList::DeltaNElements) return 5;
  throw poputil::poplibs_error("getUnpackCost: a list of vectors without a list of descriptors");
}

/// Cycles to unpack one descriptor of such a list.
inline std::uint64_t getVectorListDeltaUnpackCost(const poplar::layout::VectorList layout) {
  if (layout == poplar::layout::VectorList::DeltaN) return 3;
  if (layout == poplar::layout::VectorList::DeltaNElements) return 2;
  throw poputil::poplibs_error("getVectorListDeltaUnpackCost: a list of vectors without a list of descriptors");
}

}  // namespace internal
}  // namespace poputil

#endif
