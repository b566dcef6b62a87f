// out[i] = op(in[i]), for one contiguous region. op: the value of popops::expr::UnaryOpType.
#ifdef __POPC__
#include <poplar/HalfFloat.hpp>
#include <poplar/Vertex.hpp>

#include "kernels/elementwise/elementwise_types.h"

namespace popops {

template <class T>
class Unary : public poplar::Vertex {
 public:
  Unary();
  poplar::Input<poplar::Vector<T>> in;
  poplar::Output<poplar::Vector<T>> out;
  const unsigned char op;

  bool compute() {
    using namespace pando::kernels;
    pando_unary(static_cast<pando::kernels::Unary>(op), type_named<T>(), in.data(), out.data(), out.size());
    return true;
  }
};

template class Unary<float>;
template class Unary<half>;
template class Unary<int>;
template class Unary<unsigned int>;

}  // namespace popops
#else
#include "poplibs/popops/elementwise/estimate.h"

namespace popops {

pando::poplibs::Estimates estimates_unary() { return internal::estimates_of_functions("popops::Unary", 1); }

}  // namespace popops
#endif
