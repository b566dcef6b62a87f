// out[i] = op(in1[i], in2[i]), for one contiguous region. op: the value of popops::expr::BinaryOpType.
#ifdef __POPC__
#include <poplar/HalfFloat.hpp>
#include <poplar/Vertex.hpp>

#include "kernels/elementwise/elementwise_types.h"

namespace popops {

template <class T>
class Binary : public poplar::Vertex {
 public:
  Binary();
  poplar::Input<poplar::Vector<T>> in1;
  poplar::Input<poplar::Vector<T>> in2;
  poplar::Output<poplar::Vector<T>> out;
  const unsigned char op;

  bool compute() {
    using namespace pando::kernels;
    pando_binary(static_cast<pando::kernels::Binary>(op), type_named<T>(), in1.data(), in2.data(), out.data(), out.size());
    return true;
  }
};

template class Binary<float>;
template class Binary<half>;
template class Binary<int>;
template class Binary<unsigned int>;

}  // namespace popops
#else
#include "poplibs/popops/elementwise/estimate.h"

namespace popops {

pando::poplibs::Estimates estimates_binary() { return internal::estimates_of_functions("popops::Binary", 2); }

}  // namespace popops
#endif
