// data -> f(data), for one contiguous region or many, in place or not. The function is a kernels::Activation.
#ifdef __POPC__
#include <poplar/HalfFloat.hpp>
#include <poplar/Vertex.hpp>

#include "kernels/elementwise/nonlinearity.h"

namespace popnn {

inline void activate(unsigned char op, unsigned n, const float* in, float* out) {
  pando_activation_f32(static_cast<pando::kernels::Activation>(op), n, in, out);
}
inline void activate(unsigned char op, unsigned n, const half* in, half* out) {
  pando_activation_f16(static_cast<pando::kernels::Activation>(op), n, in, out);
}

template <class T>
class Activation : public poplar::Vertex {
 public:
  Activation();
  poplar::Input<poplar::Vector<T>> in;
  poplar::Output<poplar::Vector<T>> out;
  const unsigned char op;
  bool compute() {
    activate(op, out.size(), &in[0], &out[0]);
    return true;
  }
};

template <class T>
class ActivationInPlace : public poplar::Vertex {
 public:
  ActivationInPlace();
  poplar::InOut<poplar::Vector<T>> data;
  const unsigned char op;
  bool compute() {
    activate(op, data.size(), &data[0], &data[0]);
    return true;
  }
};

template <class T>
class ActivationMany : public poplar::Vertex {
 public:
  ActivationMany();
  poplar::Vector<poplar::Input<poplar::Vector<T>>> in;
  poplar::Vector<poplar::Output<poplar::Vector<T>>> out;
  const unsigned char op;
  bool compute() {
    for (unsigned i = 0, n = out.size(); i < n; ++i) activate(op, out[i].size(), &in[i][0], &out[i][0]);
    return true;
  }
};

template <class T>
class ActivationManyInPlace : public poplar::Vertex {
 public:
  ActivationManyInPlace();
  poplar::Vector<poplar::InOut<poplar::Vector<T>>> data;
  const unsigned char op;
  bool compute() {
    for (unsigned i = 0, n = data.size(); i < n; ++i) activate(op, data[i].size(), &data[i][0], &data[i][0]);
    return true;
  }
};

template class Activation<float>;
template class Activation<half>;
template class ActivationInPlace<float>;
template class ActivationInPlace<half>;
template class ActivationMany<float>;
template class ActivationMany<half>;
template class ActivationManyInPlace<float>;
template class ActivationManyInPlace<half>;

}  // namespace popnn
#else
#include "poplibs/popnn/nonlinearity/activation_cost.h"

namespace popnn {

using namespace pando::poplibs;

Estimates estimates_activation() {
  Estimates out;
  append_activation_estimates(out, "popnn::Activation", "out", false);
  append_activation_estimates(out, "popnn::ActivationInPlace", "data", false);
  append_activation_estimates(out, "popnn::ActivationMany", "out", false);
  append_activation_estimates(out, "popnn::ActivationManyInPlace", "data", false);
  return out;
}

}  // namespace popnn
#endif
