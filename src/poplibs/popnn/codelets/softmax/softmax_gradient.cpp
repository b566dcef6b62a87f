// The gradient of softmax: out = act (gradient - dot(act, gradient)), row by row; whole rows, or pieces with the dot products of all
// pieces.
#ifdef __POPC__
#include <poplar/HalfFloat.hpp>
#include <poplar/Vertex.hpp>

#include "kernels/rows/softmax.h"

namespace popnn {

inline float dot(unsigned n, const float* a, const float* b) { return pando_dot_f32(n, a, b); }
inline float dot(unsigned n, const half* a, const half* b) { return pando_dot_f16(n, a, b); }
inline void differentiate(unsigned n, const float* act, const float* gradient, float dot, float* out) {
  pando_softmax_gradient_f32(n, act, gradient, dot, out);
}
inline void differentiate(unsigned n, const half* act, const half* gradient, float dot, half* out) {
  pando_softmax_gradient_f16(n, act, gradient, dot, out);
}

template <class T>
class SoftmaxGradientRows : public poplar::Vertex {
 public:
  SoftmaxGradientRows();
  poplar::Input<poplar::Vector<T>> act;
  poplar::Input<poplar::Vector<T>> gradient;
  poplar::Output<poplar::Vector<T>> out;
  const unsigned columns;
  bool compute() {
    for (unsigned i = 0, n = out.size(); i < n; i += columns)
      differentiate(columns, &act[i], &gradient[i], dot(columns, &act[i], &gradient[i]), &out[i]);
    return true;
  }
};

template <class T>
class SoftmaxGradientDot : public poplar::Vertex {
 public:
  SoftmaxGradientDot();
  poplar::Input<poplar::Vector<T>> act;
  poplar::Input<poplar::Vector<T>> gradient;
  poplar::Output<poplar::Vector<float>> out;
  bool compute() {
    out[0] = dot(act.size(), &act[0], &gradient[0]);
    return true;
  }
};

template <class T>
class SoftmaxGradientFinish : public poplar::Vertex {
 public:
  SoftmaxGradientFinish();
  poplar::Input<poplar::Vector<T>> act;
  poplar::Input<poplar::Vector<T>> gradient;
  poplar::Input<poplar::Vector<float>> dots;
  poplar::Output<poplar::Vector<T>> out;
  bool compute() {
    float sum = 0;
    for (unsigned i = 0, n = dots.size(); i < n; ++i) sum += dots[i];
    differentiate(out.size(), &act[0], &gradient[0], sum, &out[0]);
    return true;
  }
};

template class SoftmaxGradientRows<float>;
template class SoftmaxGradientRows<half>;
template class SoftmaxGradientDot<float>;
template class SoftmaxGradientDot<half>;
template class SoftmaxGradientFinish<float>;
template class SoftmaxGradientFinish<half>;

}  // namespace popnn
#else
#include "poplibs/popnn/softmax/softmax_cost.h"

namespace popnn {

using namespace pando::poplibs;

Estimates estimates_softmax_gradient() {
  Estimates out;
  append_row_estimates(out, "popnn::SoftmaxGradientRows", "out", 6, 4);
  append_row_estimates(out, "popnn::SoftmaxGradientDot", "act", 3, 2);
  append_row_estimates(out, "popnn::SoftmaxGradientFinish", "out", 4, 2);
  return out;
}

}  // namespace popnn
#endif
