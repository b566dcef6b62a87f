// What work on rows costs on a tile.
#pragma once

#include "poplibs/codelet_file.h"

namespace popnn {

// `cycles` for a vector of two floats or four halves of the one-dimensional field, and `flops` for an element.
inline void append_row_estimates(pando::poplibs::Estimates& out, const std::string& name, const char* field, unsigned cycles,
                                 unsigned flops) {
  using namespace poplar;
  const auto rows = pando::poplibs::for_types(name, {FLOAT, HALF}, [field, cycles, flops](const Type& type) {
    return [type, field, cycles, flops](const VertexIntrospector& vertex, const Target& target) {
      const std::size_t n = vertex.getFieldInfo(field).size();
      return VertexPerfEstimate(30 + cycles * (n / target.getVectorWidth(type) + 1), n * flops);
    };
  });
  out.insert(out.end(), rows.begin(), rows.end());
}

}  // namespace popnn
