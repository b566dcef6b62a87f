// out[i] = sum over p of in[p][i], added up in float.
#ifdef __POPC__
#include <poplar/HalfFloat.hpp>
#include <poplar/Vertex.hpp>

#include "poplibs/poplin/codelets/matmul/sum.h"

namespace poplin {

template <class Partials, class T>
class SumPartials : public poplar::Vertex {
 public:
  SumPartials();
  poplar::Vector<poplar::Input<poplar::Vector<Partials>>> in;
  poplar::Output<poplar::Vector<T>> out;

  bool compute() {
    float sum[kSumChunk];
    for (unsigned begin = 0, size = out.size(); begin < size; begin += kSumChunk) {
      const unsigned n = size - begin < kSumChunk ? size - begin : kSumChunk;
      add_partials(in, begin, n, sum);
      T* to = &out[begin];
      for (unsigned i = 0; i < n; ++i) to[i] = static_cast<T>(sum[i]);
    }
    return true;
  }
};

template class SumPartials<float, float>;
template class SumPartials<float, half>;
template class SumPartials<half, float>;
template class SumPartials<half, half>;

}  // namespace poplin
#else
#include "poplibs/codelet_file.h"
#include "poplibs/poplin/plan/cost.h"

namespace poplin {

using namespace pando::poplibs;

Estimates estimates_sum_partials() {
  using namespace poplar;
  Estimates out;
  for (const Type& partials : {FLOAT, HALF})
    for (const Type& type : {FLOAT, HALF})
      out.push_back({"poplin::SumPartials<" + partials.toString() + "," + type.toString() + ">",
                     [partials](const VertexIntrospector& vertex, const Target& target) {
                       const std::uint64_t n = vertex.getFieldInfo("out").size(), p = vertex.getFieldInfo("in").size();
                       return VertexPerfEstimate(plan::sum_cycles(target, p, n, partials), n * (p - 1));
                     }});
  return out;
}

}  // namespace poplin
#endif
