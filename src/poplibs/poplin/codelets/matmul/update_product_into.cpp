// W += scale * transpose(X) * Y: UpdateProduct where W is kept.
#ifdef __POPC__
#include <poplar/HalfFloat.hpp>
#include <poplar/Vertex.hpp>

#include "poplibs/poplin/matmul/pieces.h"

namespace poplin {

template <class In, class T>
class UpdateProductInto : public poplar::SupervisorVertex {
 public:
  UpdateProductInto();
  poplar::Vector<poplar::Input<poplar::Vector<In>>> x, y;
  poplar::Vector<poplar::InOut<poplar::Vector<T>>> w;
  poplar::Input<float> scale;
  const unsigned m, n, k;

  bool compute() {
    compute_update<In, T>(*this, *scale, true);
    return true;
  }
};

template class UpdateProductInto<float, float>;
template class UpdateProductInto<half, float>;
template class UpdateProductInto<half, half>;

}  // namespace poplin
#else
#include "poplibs/poplin/matmul/pieces.h"

namespace poplin {

using namespace pando::poplibs;

Estimates estimates_update_product_into() { return update_estimates("poplin::UpdateProductInto"); }

}  // namespace poplin
#endif
