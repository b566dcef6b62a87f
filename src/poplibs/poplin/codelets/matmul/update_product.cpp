// One tile's part of W = transpose(X) * Y on its AMP unit, X and Y cut as a forward product has them. X and Y in pieces of whole rows,
// W in pieces of whole columns, all row-major.
#ifdef __POPC__
#include <poplar/HalfFloat.hpp>
#include <poplar/Vertex.hpp>

#include "kernels/gemm/gemm.h"
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
    PandoPiece x_list[kMostPieces], y_list[kMostPieces], w_list[kMostPieces];
    list_pieces(x, x_list);
    list_pieces(y, y_list);
    list_pieces(w, w_list);
    pando_gemm_update(m, n, k, x_list, x.size(), y_list, y.size(), w_list, w.size(), 1, false, sizeof(In) == 2, sizeof(Partials) == 2);
    return true;
  }
};

template class UpdateProduct<float, float>;
template class UpdateProduct<half, float>;
template class UpdateProduct<half, half>;

}  // namespace poplin
#else
#include "poplibs/codelet_file.h"
#include "poplibs/poplin/matmul/pieces.h"

namespace poplin {

using namespace pando::poplibs;

Estimates estimates_update_product() {
  using namespace poplar;
  return piece_estimates("poplin::UpdateProduct", [](const VertexIntrospector& vertex, const Target& target) {
    const auto value = [&](const char* field) { return std::uint64_t{vertex.getFieldInfo(field).getInitialValue<unsigned>(target)}; };
    return PieceProduct{value("k"), value("n"), value("m")};
  });
}

}  // namespace poplin
#endif
