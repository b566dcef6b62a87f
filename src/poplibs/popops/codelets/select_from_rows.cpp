// Elements selected from parts of the rows of a matrix: params[p] is what lies from element begin[p] of row 0 of indices[p] on, in
// rows of `width` elements; out[p] has one element for each of the rows: the selected one if it lies in the part, else 0.
#ifdef __POPC__
#include <poplar/HalfFloat.hpp>
#include <poplar/Vertex.hpp>

namespace popops {

constexpr unsigned kMaskedLabel = 0xffffffff;  // MASKED_LABEL_CODE

template <class T>
class SelectFromRows : public poplar::Vertex {
 public:
  SelectFromRows();
  poplar::Vector<poplar::Input<poplar::Vector<T>>> params;
  poplar::Vector<poplar::Input<poplar::Vector<unsigned int>>> indices;
  poplar::Vector<poplar::Output<poplar::Vector<T>>> out;
  poplar::Vector<unsigned int> begin;
  const unsigned int width;

  bool compute() {
    for (unsigned p = 0; p < params.size(); ++p)
      for (unsigned r = 0; r < indices[p].size(); ++r) {
        const unsigned index = indices[p][r];
        const long long at = static_cast<long long>(r) * width + index - begin[p];
        T value = T(0);
        if (index == kMaskedLabel)
          value = T(0);
        else if (index >= width)
          value = static_cast<T>(__builtin_nanf(""));
        else if (at >= 0 && at < static_cast<long long>(params[p].size()))
          value = params[p][at];
        out[p][r] = value;
      }
    return true;
  }
};

template class SelectFromRows<float>;
template class SelectFromRows<half>;

}  // namespace popops
#else
#include <popops/EncodingConstants.hpp>

#include "poplibs/popops/data/estimate.h"

static_assert(MASKED_LABEL_CODE == 0xffffffff);

namespace popops {

Estimates estimates_select_from_rows() {
  return for_types("popops::SelectFromRows", {poplar::FLOAT, poplar::HALF},
                   [](const poplar::Type&) { return internal::loop_cost("indices", {.cycles_per_element = 12}); });
}

}  // namespace popops
#endif
