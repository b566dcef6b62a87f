// Subtracts 1 from one element of each row of a matrix, in parts of its rows (see select_from_rows.cpp). Rows whose index is no
// column become NaN.
#ifdef __POPC__
#include <poplar/HalfFloat.hpp>
#include <poplar/Vertex.hpp>

namespace popops {

constexpr unsigned kMaskedLabel = 0xffffffff;  // MASKED_LABEL_CODE

template <class T>
class UpdateInRows : public poplar::Vertex {
 public:
  UpdateInRows();
  poplar::Vector<poplar::InOut<poplar::Vector<T>>> params;
  poplar::Vector<poplar::Input<poplar::Vector<unsigned int>>> indices;
  poplar::Vector<unsigned int> begin;
  const unsigned int width;

  bool compute() {
    for (unsigned p = 0; p < params.size(); ++p) {
      const long long n = params[p].size();
      for (unsigned r = 0; r < indices[p].size(); ++r) {
        const unsigned index = indices[p][r];
        if (index == kMaskedLabel) continue;
        const long long row = static_cast<long long>(r) * width - begin[p];
        if (index < width) {
          const long long at = row + index;
          if (at >= 0 && at < n) params[p][at] = static_cast<T>(static_cast<float>(params[p][at]) - 1.0f);
        } else {
          for (long long at = row < 0 ? 0 : row; at < row + width && at < n; ++at) params[p][at] = static_cast<T>(__builtin_nanf(""));
        }
      }
    }
    return true;
  }
};

template class UpdateInRows<float>;
template class UpdateInRows<half>;

}  // namespace popops
#else
#include <popops/EncodingConstants.hpp>

#include "poplibs/popops/data/estimate.h"

static_assert(MASKED_LABEL_CODE == 0xffffffff);

namespace popops {

Estimates estimates_update_in_rows() {
  return for_types("popops::UpdateInRows", {poplar::FLOAT, poplar::HALF},
                   [](const poplar::Type&) { return internal::loop_cost("indices", {.cycles_per_element = 12}); });
}

}  // namespace popops
#endif
