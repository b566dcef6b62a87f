// {max, sum of exp(x - max)} of a piece of a row.
#ifdef __POPC__
#include <poplar/HalfFloat.hpp>
#include <poplar/Vertex.hpp>

#include "kernels/rows/softmax.h"

namespace popnn {

inline void summarise(unsigned n, const float* in, float* out) {
  pando_softmax_summary_f32(n, in, reinterpret_cast<pando::kernels::SoftmaxSummary*>(out));
}
inline void summarise(unsigned n, const half* in, float* out) {
  pando_softmax_summary_f16(n, in, reinterpret_cast<pando::kernels::SoftmaxSummary*>(out));
}

template <class T>
class SoftmaxSummary : public poplar::Vertex {
 public:
  SoftmaxSummary();
  poplar::Input<poplar::Vector<T>> in;
  poplar::Output<poplar::Vector<float>> out;
  bool compute() {
    summarise(in.size(), &in[0], &out[0]);
    return true;
  }
};

template class SoftmaxSummary<float>;
template class SoftmaxSummary<half>;

}  // namespace popnn
#else
#include "poplibs/popnn/softmax/softmax_cost.h"

namespace popnn {

using namespace pando::poplibs;

Estimates estimates_softmax_summary() {
  Estimates out;
  append_row_estimates(out, "popnn::SoftmaxSummary", "in", 6, 4);
  return out;
}

}  // namespace popnn
#endif
