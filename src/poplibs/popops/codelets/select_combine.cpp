// out[r] = the sum of partials[r], of which at most one is not 0.
#ifdef __POPC__
#include <poplar/HalfFloat.hpp>
#include <poplar/Vertex.hpp>

namespace popops {

template <class T>
class SelectCombine : public poplar::Vertex {
 public:
  SelectCombine();
  poplar::Vector<poplar::Input<poplar::Vector<T>>> partials;
  poplar::Output<poplar::Vector<T>> out;

  bool compute() {
    for (unsigned r = 0; r < out.size(); ++r) {
      float sum = 0;
      for (unsigned i = 0; i < partials[r].size(); ++i) sum += static_cast<float>(partials[r][i]);
      out[r] = static_cast<T>(sum);
    }
    return true;
  }
};

template class SelectCombine<float>;
template class SelectCombine<half>;

}  // namespace popops
#else
#include "poplibs/popops/data/estimate.h"

namespace popops {

Estimates estimates_select_combine() {
  return for_types("popops::SelectCombine", {poplar::FLOAT, poplar::HALF},
                   [](const poplar::Type&) { return internal::loop_cost("partials", {.cycles_per_element = 1}); });
}

}  // namespace popops
#endif
