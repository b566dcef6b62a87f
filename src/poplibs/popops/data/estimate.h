// Estimates of vertices that go once over runs of elements.
#pragma once

#include <string>

#include "poplibs/codelet_file.h"
#include "poplibs/popops/data/parts.h"

namespace popops {

using namespace pando::poplibs;

namespace internal {

struct LoopCost {
  double cycles_per_element = 1;
  unsigned flops_per_element = 0;
  unsigned overhead = 20;         // of the vertex
  unsigned overhead_of_run = 10;  // of each run of the form for several
};

// Cost by the elements of `field`, which is a vector or a vector of vectors.
inline poplar::PerfEstimateFunc loop_cost(const std::string& field, const LoopCost& cost) {
  return [=](const VertexIntrospector& vertex, const Target&) {
    const poplar::FieldData data = vertex.getFieldInfo(field);
    std::size_t elements = 0, overhead = cost.overhead;
    if (data.rank() < 2) {
      elements = data.size();
    } else {
      for (std::size_t i = 0; i < data.size(); ++i) elements += data.getSizeAtIndex(i);
      overhead += data.size() * cost.overhead_of_run;
    }
    return VertexPerfEstimate(overhead + static_cast<std::uint64_t>(static_cast<double>(elements) * cost.cycles_per_element + 0.5),
                              elements * cost.flops_per_element);
  };
}

// Both forms of a vertex (see VertexPair).
inline void add_pair(Estimates& out, const std::string& name, const std::string& arguments, const std::string& field,
                     const LoopCost& cost) {
  const VertexPair vertex = vertex_pair(name, arguments);
  out.push_back({vertex.one, loop_cost(field, cost)});
  out.push_back({vertex.many, loop_cost(field, cost)});
}

}  // namespace internal
}  // namespace popops
