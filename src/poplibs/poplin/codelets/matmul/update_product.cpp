// One tile's part of W = transpose(X) * Y on its AMP unit, X and Y cut as a forward product has them. X and Y in pieces of whole rows,
// W in pieces of whole columns, all row-major.
#ifdef __POPC__
#include <poplar/HalfFloat.hpp>
#include <poplar/Vertex.hpp>

#include "poplibs/poplin/matmul/pieces.h"

namespace poplin {

template <class In, class Partials>
class UpdateProduct : public poplar::SupervisorVertex {
 public:
  UpdateProduct();
  poplar::Vector<poplar::Input<poplar::Vector<In>>> x, y;
  poplar::Vector<poplar::Output<poplar::Vector<Partials>>> w;
  const unsigned m, n, k;

  bool compute() {
    compute_update<In, Partials>(*this, 1, false);
    return true;
  }
};

template class UpdateProduct<float, float>;
template class UpdateProduct<half, float>;
template class UpdateProduct<half, half>;

}  // namespace poplin
#else
#include "poplibs/poplin/matmul/pieces.h"

namespace poplin {

using namespace pando::poplibs;

Estimates estimates_update_product() { return update_estimates("poplin::UpdateProduct"); }

}  // namespace poplin
#endif
