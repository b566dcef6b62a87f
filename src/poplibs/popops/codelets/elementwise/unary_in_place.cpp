// out[i] = op(out[i]), for one contiguous region. op: the value of popops::expr::UnaryOpType.
#ifdef __POPC__
#include <poplar/HalfFloat.hpp>
#include <poplar/Vertex.hpp>

#include "kernels/elementwise/elementwise_types.h"

namespace popops {

template <class T>
class UnaryInPlace : public poplar::Vertex {
 public:
  UnaryInPlace();
  poplar::InOut<poplar::Vector<T>> out;
  const unsigned char op;

  bool compute() {
    using namespace pando::kernels;
    pando_unary(static_cast<Unary>(op), type_named<T>(), out.data(), out.data(), out.size());
    return true;
  }
};

template class UnaryInPlace<float>;
template class UnaryInPlace<half>;
template class UnaryInPlace<int>;
template class UnaryInPlace<unsigned int>;

}  // namespace popops
#else
#include "poplibs/popops/elementwise/estimate.h"

namespace popops {

pando::poplibs::Estimates estimates_unary_in_place() { return internal::estimates_of_functions("popops::UnaryInPlace", 1); }

}  // namespace popops
#endif
