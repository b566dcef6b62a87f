// Products of edges' inputs with weights that their indices choose: out[e][o] = sum of basis[e][s] * input[e][i] * weight[index][i][o].
#ifdef __POPC__
#include <poplar/HalfFloat.hpp>
#include <poplar/Vertex.hpp>

namespace popops {

template <class T>
class SplineWeighting : public poplar::Vertex {
 public:
  SplineWeighting();
  poplar::Input<poplar::Vector<T>> input;
  poplar::Input<poplar::Vector<T>> weight;
  poplar::Input<poplar::Vector<T>> basis;
  poplar::Input<poplar::Vector<int>> weightIndex;
  poplar::Output<poplar::Vector<T>> out;
  const unsigned int edges;
  const unsigned int kernels;

  bool compute() {
    constexpr unsigned kChunk = 64;
    const unsigned inputs = input.size() / edges, outputs = out.size() / edges, points = basis.size() / edges;
    for (unsigned e = 0; e < edges; ++e)
      for (unsigned begin = 0; begin < outputs; begin += kChunk) {
        const unsigned n = outputs - begin < kChunk ? outputs - begin : kChunk;
        float sum[kChunk] = {};
        for (unsigned s = 0; s < points; ++s) {
          const unsigned index = static_cast<unsigned>(weightIndex[e * points + s]);
          if (index >= kernels) continue;
          const float b = static_cast<float>(basis[e * points + s]);
          for (unsigned i = 0; i < inputs; ++i) {
            const float x = b * static_cast<float>(input[e * inputs + i]);
            const T* w = &weight[(static_cast<std::size_t>(index) * inputs + i) * outputs + begin];
            for (unsigned o = 0; o < n; ++o) sum[o] += x * static_cast<float>(w[o]);
          }
        }
        for (unsigned o = 0; o < n; ++o) out[e * outputs + begin + o] = static_cast<T>(sum[o]);
      }
    return true;
  }
};

template class SplineWeighting<float>;
template class SplineWeighting<half>;

}  // namespace popops
#else
#include "poplibs/popops/data/estimate.h"

namespace popops {

// Two floats or four halves of a row of weights a cycle.
Estimates estimates_spline_weighting() {
  return for_types("popops::SplineWeighting", {poplar::FLOAT, poplar::HALF}, [](const poplar::Type& type) {
    const std::size_t lanes = type == poplar::HALF ? 4 : 2;
    return [lanes](const VertexIntrospector& vertex, const Target& target) {
      const std::size_t edges = vertex.getFieldInfo("edges").getInitialValue<unsigned>(target);
      const std::size_t inputs = vertex.getFieldInfo("input").size() / edges, outputs = vertex.getFieldInfo("out").size() / edges;
      const std::size_t rows = vertex.getFieldInfo("basis").size() * inputs;
      return VertexPerfEstimate(30 + rows * (5 + (outputs + lanes - 1) / lanes), 2 * rows * outputs);
    };
  });
}

}  // namespace popops
#endif
