// out[i] = sum over the partial sums of partials[p][i].
#ifdef __POPC__
#include <poplar/HalfFloat.hpp>
#include <poplar/Vertex.hpp>

#include "poplibs/poplin/codelets/matmul/sum.h"

namespace poplin {

using namespace poplar;

template <class In, class Out>
class ConvSum : public Vertex {
 public:
  ConvSum();
  Vector<Input<Vector<In>>> partials;
  Output<Vector<Out>> out;

  bool compute() {
    float sums[kSumChunk];
    const unsigned n = out.size();
    Out* to = out.data();
    for (unsigned begin = 0; begin < n; begin += kSumChunk) {
      const unsigned count = n - begin < kSumChunk ? n - begin : kSumChunk;
      add_partials(partials, begin, count, sums);
      for (unsigned i = 0; i < count; ++i) to[begin + i] = Out(sums[i]);
    }
    return true;
  }
};

template class ConvSum<float, float>;
template class ConvSum<float, half>;
template class ConvSum<half, float>;
template class ConvSum<half, half>;

}  // namespace poplin
#else
#include "poplibs/codelet_file.h"
#include "poplibs/poplin/plan/cost.h"

namespace poplin {

using namespace pando::poplibs;

Estimates estimates_conv_sum() {
  using namespace poplar;
  Estimates out;
  for (const auto& [in, result] : {std::pair(FLOAT, FLOAT), {FLOAT, HALF}, {HALF, FLOAT}, {HALF, HALF}})
    out.push_back(
        {"poplin::ConvSum<" + in.toString() + "," + result.toString() + ">", [in = in](const VertexIntrospector& v, const Target& target) {
           const std::uint64_t terms = v.getFieldInfo("partials").size(), n = v.getFieldInfo("out").size();
           return VertexPerfEstimate(plan::sum_cycles(target, terms, n, in), terms * n);
         }});
  return out;
}

}  // namespace poplin
#endif
