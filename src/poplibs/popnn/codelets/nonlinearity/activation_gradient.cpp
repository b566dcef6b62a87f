// out = gradient * f', for one contiguous region or many. `act` is f's result or its operand, see kernels/elementwise/nonlinearity.h.
#ifdef __POPC__
#include <poplar/HalfFloat.hpp>
#include <poplar/Vertex.hpp>

#include "kernels/elementwise/nonlinearity.h"

namespace popnn {

inline void differentiate(unsigned char op, unsigned n, const float* act, const float* gradient, float* out) {
  pando_activation_gradient_f32(static_cast<pando::kernels::Activation>(op), n, act, gradient, out);
}
inline void differentiate(unsigned char op, unsigned n, const half* act, const half* gradient, half* out) {
  pando_activation_gradient_f16(static_cast<pando::kernels::Activation>(op), n, act, gradient, out);
}

template <class T>
class ActivationGradient : public poplar::Vertex {
 public:
  ActivationGradient();
  poplar::Input<poplar::Vector<T>> act;
  poplar::Input<poplar::Vector<T>> gradient;
  poplar::Output<poplar::Vector<T>> out;
  const unsigned char op;
  bool compute() {
    differentiate(op, out.size(), &act[0], &gradient[0], &out[0]);
    return true;
  }
};

template <class T>
class ActivationGradientMany : public poplar::Vertex {
 public:
  ActivationGradientMany();
  poplar::Vector<poplar::Input<poplar::Vector<T>>> act;
  poplar::Vector<poplar::Input<poplar::Vector<T>>> gradient;
  poplar::Vector<poplar::Output<poplar::Vector<T>>> out;
  const unsigned char op;
  bool compute() {
    for (unsigned i = 0, n = out.size(); i < n; ++i) differentiate(op, out[i].size(), &act[i][0], &gradient[i][0], &out[i][0]);
    return true;
  }
};

template class ActivationGradient<float>;
template class ActivationGradient<half>;
template class ActivationGradientMany<float>;
template class ActivationGradientMany<half>;

}  // namespace popnn
#else
#include "poplibs/popnn/nonlinearity/activation_cost.h"

namespace popnn {

using namespace pando::poplibs;

Estimates estimates_activation_gradient() {
  Estimates out;
  append_activation_estimates(out, "popnn::ActivationGradient", "out", true);
  append_activation_estimates(out, "popnn::ActivationGradientMany", "out", true);
  return out;
}

}  // namespace popnn
#endif
