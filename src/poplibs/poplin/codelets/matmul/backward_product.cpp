// One tile's part of X = Y * transpose(W) on its AMP unit, W where a forward product has it. Y and X in pieces of whole rows, W in
// pieces of whole columns, all row-major.
#ifdef __POPC__
#include <poplar/HalfFloat.hpp>
#include <poplar/Vertex.hpp>

#include "kernels/gemm/gemm.h"
#include "poplibs/poplin/matmul/pieces.h"

namespace poplin {

template <class In, class Partials>
class BackwardProduct : public poplar::SupervisorVertex {
 public:
  BackwardProduct();
  poplar::Vector<poplar::Input<poplar::Vector<In>>> y, w;
  poplar::Vector<poplar::Output<poplar::Vector<Partials>>> x;
  const unsigned n, k;

  bool compute() {
    PandoPiece y_list[kMostPieces], w_list[kMostPieces], x_list[kMostPieces];
    list_pieces(y, y_list);
    list_pieces(w, w_list);
    list_pieces(x, x_list);
    pando_gemm_backward(n, k, y_list, y.size(), w_list, w.size(), x_list, x.size(), sizeof(In) == 2, sizeof(Partials) == 2);
    return true;
  }
};

template class BackwardProduct<float, float>;
template class BackwardProduct<half, float>;
template class BackwardProduct<half, half>;

}  // namespace poplin
#else
#include "poplibs/codelet_file.h"
#include "poplibs/poplin/matmul/pieces.h"

namespace poplin {

using namespace pando::poplibs;

Estimates estimates_backward_product() {
  using namespace poplar;
  return piece_estimates("poplin::BackwardProduct", [](const VertexIntrospector& vertex, const Target& target) {
    const std::uint64_t n = vertex.getFieldInfo("n").getInitialValue<unsigned>(target),
                        k = vertex.getFieldInfo("k").getInitialValue<unsigned>(target);
    return PieceProduct{elements_of(vertex.getFieldInfo("y")) / n, k, n};
  });
}

}  // namespace poplin
#endif
