// A piece of a row's softmax or log-softmax, given the summaries of all its pieces (or of the row, already merged).
#ifdef __POPC__
#include <poplar/HalfFloat.hpp>
#include <poplar/Vertex.hpp>

#include "kernels/rows/softmax.h"

namespace popnn {

inline void finish(unsigned n, const float* in, const pando::kernels::SoftmaxSummary& row, float* out, float scale, bool log) {
  pando_softmax_finish_f32(n, in, &row, out, scale, log);
}
inline void finish(unsigned n, const half* in, const pando::kernels::SoftmaxSummary& row, half* out, float scale, bool log) {
  pando_softmax_finish_f16(n, in, &row, out, scale, log);
}
inline pando::kernels::SoftmaxSummary merged(unsigned floats, const float* summaries) {
  pando::kernels::SoftmaxSummary row;
  pando_softmax_merge(floats / 2, reinterpret_cast<const pando::kernels::SoftmaxSummary*>(summaries), &row);
  return row;
}

template <class T>
class SoftmaxFinish : public poplar::Vertex {
 public:
  SoftmaxFinish();
  poplar::Input<poplar::Vector<T>> in;
  poplar::Input<poplar::Vector<float>> summaries;
  poplar::Output<poplar::Vector<T>> out;
  const float scale;
  const bool log;
  bool compute() {
    finish(out.size(), &in[0], merged(summaries.size(), &summaries[0]), &out[0], scale, log);
    return true;
  }
};

template <class T>
class SoftmaxFinishInPlace : public poplar::Vertex {
 public:
  SoftmaxFinishInPlace();
  poplar::InOut<poplar::Vector<T>> out;
  poplar::Input<poplar::Vector<float>> summaries;
  const float scale;
  const bool log;
  bool compute() {
    finish(out.size(), &out[0], merged(summaries.size(), &summaries[0]), &out[0], scale, log);
    return true;
  }
};

template class SoftmaxFinish<float>;
template class SoftmaxFinish<half>;
template class SoftmaxFinishInPlace<float>;
template class SoftmaxFinishInPlace<half>;

}  // namespace popnn
#else
#include "poplibs/popnn/softmax/softmax_cost.h"

namespace popnn {

using namespace pando::poplibs;

Estimates estimates_softmax_finish() {
  Estimates out;
  append_row_estimates(out, "popnn::SoftmaxFinish", "out", 5, 3);
  append_row_estimates(out, "popnn::SoftmaxFinishInPlace", "out", 5, 3);
  return out;
}

}  // namespace popnn
#endif
