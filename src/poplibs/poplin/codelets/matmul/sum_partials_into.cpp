// out[i] += scale * (sum over p of in[p][i]), in float.
#ifdef __POPC__
#include <poplar/HalfFloat.hpp>
#include <poplar/Vertex.hpp>

#include "poplibs/poplin/codelets/matmul/sum.h"

namespace poplin {

template <class Partials, class T, class Scale>
class SumPartialsInto : public poplar::Vertex {
 public:
  SumPartialsInto();
  poplar::Vector<poplar::Input<poplar::Vector<Partials>>> in;
  poplar::InOut<poplar::Vector<T>> out;
  poplar::Input<Scale> scale;

  bool compute() {
    float sum[kSumChunk];
    const float factor = static_cast<float>(*scale);
    for (unsigned begin = 0, size = out.size(); begin < size; begin += kSumChunk) {
      const unsigned n = size - begin < kSumChunk ? size - begin : kSumChunk;
      add_partials(in, begin, n, sum);
      T* to = &out[begin];
      for (unsigned i = 0; i < n; ++i) to[i] = static_cast<T>(static_cast<float>(to[i]) + factor * sum[i]);
    }
    return true;
  }
};

template class SumPartialsInto<float, float, float>;
template class SumPartialsInto<float, float, half>;
template class SumPartialsInto<float, half, float>;
template class SumPartialsInto<float, half, half>;
template class SumPartialsInto<half, float, float>;
template class SumPartialsInto<half, float, half>;
template class SumPartialsInto<half, half, float>;
template class SumPartialsInto<half, half, half>;

}  // namespace poplin
#else
#include "poplibs/codelet_file.h"
#include "poplibs/poplin/plan/cost.h"

namespace poplin {

using namespace pando::poplibs;

// A partial sum more: the product with the factor and the old value.
Estimates estimates_sum_partials_into() {
  using namespace poplar;
  Estimates out;
  for (const Type& partials : {FLOAT, HALF})
    for (const Type& type : {FLOAT, HALF})
      for (const Type& scale : {FLOAT, HALF})
        out.push_back({"poplin::SumPartialsInto<" + partials.toString() + "," + type.toString() + "," + scale.toString() + ">",
                       [partials](const VertexIntrospector& vertex, const Target& target) {
                         const std::uint64_t n = vertex.getFieldInfo("out").size(), p = vertex.getFieldInfo("in").size();
                         return VertexPerfEstimate(plan::sum_cycles(target, p + 1, n, partials), n * (p + 1));
                       }});
  return out;
}

}  // namespace poplin
#endif
