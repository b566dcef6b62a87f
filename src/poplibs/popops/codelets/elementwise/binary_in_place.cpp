// out[i] = op(out[i], in2[i]), for one contiguous region. op: the value of popops::expr::BinaryOpType.
#ifdef __POPC__
#include <poplar/HalfFloat.hpp>
#include <poplar/Vertex.hpp>

#include "kernels/elementwise/elementwise_types.h"

namespace popops {

template <class T>
class BinaryInPlace : public poplar::Vertex {
 public:
  BinaryInPlace();
  poplar::InOut<poplar::Vector<T>> out;
  poplar::Input<poplar::Vector<T>> in2;
  const unsigned char op;

  bool compute() {
    using namespace pando::kernels;
    pando_binary(static_cast<Binary>(op), type_named<T>(), out.data(), in2.data(), out.data(), out.size());
    return true;
  }
};

template class BinaryInPlace<float>;
template class BinaryInPlace<half>;
template class BinaryInPlace<int>;
template class BinaryInPlace<unsigned int>;

}  // namespace popops
#else
#include "poplibs/popops/elementwise/estimate.h"

namespace popops {

pando::poplibs::Estimates estimates_binary_in_place() { return internal::estimates_of_functions("popops::BinaryInPlace", 2); }

}  // namespace popops
#endif
