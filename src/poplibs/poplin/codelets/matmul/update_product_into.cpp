// W += scale * transpose(X) * Y: UpdateProduct where W is kept.
#ifdef __POPC__
#include <poplar/HalfFloat.hpp>
#include <poplar/Vertex.hpp>

#include "kernels/gemm/gemm.h"
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
    PandoPiece x_list[kMostPieces], y_list[kMostPieces], w_list[kMostPieces];
    list_pieces(x, x_list);
    list_pieces(y, y_list);
    list_pieces(w, w_list);
    pando_gemm_update(m, n, k, x_list, x.size(), y_list, y.size(), w_list, w.size(), *scale, true, sizeof(In) == 2, sizeof(T) == 2);
    return true;
  }
};

template class UpdateProductInto<float, float>;
template class UpdateProductInto<half, float>;
template class UpdateProductInto<half, half>;

}  // namespace poplin
#else
#include "poplibs/codelet_file.h"
#include "poplibs/poplin/matmul/pieces.h"

namespace poplin {

using namespace pando::poplibs;

Estimates estimates_update_product_into() {
  using namespace poplar;
  return piece_estimates("poplin::UpdateProductInto", [](const VertexIntrospector& vertex, const Target& target) {
    const auto value = [&](const char* field) { return std::uint64_t{vertex.getFieldInfo(field).getInitialValue<unsigned>(target)}; };
    return PieceProduct{value("k"), value("n"), value("m")};
  });
}

}  // namespace poplin
#endif
