// The cost of the vertices that fill rows.
#pragma once

#include "poplibs/codelet_file.h"

namespace poprand {

using namespace pando::poplibs;

// So many cycles per 64 bits of the output, and some per row.
inline Estimates row_estimates(const std::string& name, std::initializer_list<poplar::Type> types, double cycles) {
  return for_types(name, types, [cycles](const poplar::Type& type) {
    return [cycles, type](const VertexIntrospector& vertex, const Target& target) {
      const auto out = vertex.getFieldInfo("out");
      double total = 20;
      for (std::size_t row = 0; row < out.size(); ++row)
        total += 6 + cycles * static_cast<double>((out.getSizeAtIndex(row) * target.getTypeSize(type) + 7) / 8);
      return VertexPerfEstimate(static_cast<std::uint64_t>(total));
    };
  });
}

}  // namespace poprand
