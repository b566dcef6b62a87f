// B-spline bases and weight numbers of some edges (popops/SplineBasis.hpp has the formula).
#ifdef __POPC__
#include <poplar/HalfFloat.hpp>
#include <poplar/Vertex.hpp>

#include <cmath>

namespace popops {

// The part of a uniform B-spline of that degree that covers its control point k, at v in [0, 1).
static float b_spline(unsigned degree, unsigned k, float v) {
  const float u = 1 - v;
  if (degree == 1) return k == 0 ? u : v;
  if (degree == 2) return k == 0 ? 0.5f * u * u : k == 1 ? u * v + 0.5f : 0.5f * v * v;
  if (k == 0) return u * u * u / 6;
  if (k == 1) return ((3 * v - 6) * v * v + 4) / 6;
  if (k == 2) return ((3 * u - 6) * u * u + 4) / 6;
  return v * v * v / 6;
}

template <class T>
class SplineBasis : public poplar::Vertex {
 public:
  SplineBasis();
  poplar::Input<poplar::Vector<T>> pseudo;
  poplar::Input<poplar::Vector<int>> kernelSize;
  poplar::Input<poplar::Vector<int>> isOpen;
  poplar::Output<poplar::Vector<T>> basis;
  poplar::Output<poplar::Vector<int>> weightIndex;
  const unsigned int degree;

  bool compute() {
    const unsigned dimensions = kernelSize.size(), edges = pseudo.size() / dimensions, points = basis.size() / edges;
    for (unsigned e = 0; e < edges; ++e)
      for (unsigned s = 0; s < points; ++s) {
        float product = 1;
        int index = 0, stride = 1;
        for (unsigned d = 0, rest = s; d < dimensions; ++d, rest /= degree + 1) {
          const unsigned k = rest % (degree + 1);
          const float v = static_cast<float>(pseudo[e * dimensions + d]) *
                          static_cast<float>(kernelSize[d] - (isOpen[d] ? static_cast<int>(degree) : 0));
          const float whole = std::floor(v);
          index += (static_cast<int>(whole) + static_cast<int>(k)) % kernelSize[d] * stride;
          stride *= kernelSize[d];
          product *= b_spline(degree, k, v - whole);
        }
        basis[e * points + s] = static_cast<T>(product);
        weightIndex[e * points + s] = index;
      }
    return true;
  }
};

template class SplineBasis<float>;
template class SplineBasis<half>;

}  // namespace popops
#else
#include "poplibs/popops/data/estimate.h"

namespace popops {

Estimates estimates_spline_basis() {
  return for_types("popops::SplineBasis", {poplar::FLOAT, poplar::HALF}, [](const poplar::Type&) {
    return [](const VertexIntrospector& vertex, const Target&) {
      const std::size_t steps = vertex.getFieldInfo("basis").size() * vertex.getFieldInfo("kernelSize").size();
      return VertexPerfEstimate(30 + 25 * steps, 8 * steps);
    };
  });
}

}  // namespace popops
#endif
