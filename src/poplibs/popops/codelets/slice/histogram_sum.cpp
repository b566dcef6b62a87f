// out[i] (+)= the sum of partials[k][i] over all k.
#ifdef __POPC__
#include <poplar/Vertex.hpp>

namespace popops {

template <class T>
class HistogramSum : public poplar::Vertex {
 public:
  HistogramSum();
  poplar::Input<poplar::Vector<unsigned>> partials;
  poplar::InOut<poplar::Vector<T>> out;
  const bool update;

  bool compute() {
    const unsigned n = out.size();
    for (unsigned i = 0; i < n; ++i) {
      unsigned sum = 0;
      for (unsigned k = i; k < partials.size(); k += n) sum += partials[k];
      out[i] = update ? static_cast<T>(out[i] + static_cast<T>(sum)) : static_cast<T>(sum);
    }
    return true;
  }
};

template class HistogramSum<float>;
template class HistogramSum<unsigned int>;

}  // namespace popops
#else
#include "poplibs/codelet_file.h"

namespace popops {

using namespace pando::poplibs;

Estimates estimates_histogram_sum() {
  using namespace poplar;
  return for_types("popops::HistogramSum", {FLOAT, UNSIGNED_INT}, [](const Type&) {
    return
        [](const VertexIntrospector& vertex, const Target&) { return VertexPerfEstimate(20 + 3 * vertex.getFieldInfo("partials").size()); };
  });
}

}  // namespace popops
#endif
