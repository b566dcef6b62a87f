// What pooling costs on a tile.
#pragma once

#include <algorithm>

#include "poplibs/codelet_file.h"
#include "poplibs/popnn/pooling/pool_geometry.h"

namespace popnn {

inline PoolGeometry geometry_of(const poplar::VertexIntrospector& vertex, const poplar::Target& target) {
  const std::vector<int> values = vertex.getFieldInfo("geometry").getInitialValues<int>(target);
  PoolGeometry out;
  static_assert(sizeof out % sizeof(int) == 0);
  std::copy(values.begin(), values.end(), reinterpret_cast<int*>(&out));
  return out;
}

// One operation and a load for every element of every window, by vectors of channels; `windows` is a field with an element for each window.
inline pando::poplibs::Estimates pool_estimates(const std::string& name, const char* windows) {
  using namespace poplar;
  return pando::poplibs::for_types(name, {FLOAT, HALF}, [windows](const Type& type) {
    return [type, windows](const VertexIntrospector& vertex, const Target& target) {
      const PoolGeometry g = geometry_of(vertex, target);
      const std::size_t n = vertex.getFieldInfo(windows).size();
      const std::size_t elements = n * static_cast<std::size_t>(g.depth.kernel * g.height.kernel * g.width.kernel);
      return VertexPerfEstimate(60 + 2 * (elements / target.getVectorWidth(type) + 1) + 6 * n / static_cast<std::size_t>(g.channels),
                                elements);
    };
  });
}

}  // namespace popnn
