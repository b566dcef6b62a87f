// Rows of as many elements as each other, one after the other: each element becomes the sum of its row up to it. Added up in double,
// rounded for each element.
#ifdef __POPC__
#include <poplar/Vertex.hpp>

namespace popops {

class CumulativeSum : public poplar::Vertex {
 public:
  CumulativeSum();
  poplar::InOut<poplar::Vector<float>> values;
  const unsigned rows;

  bool compute() {
    const unsigned n = values.size() / rows;
    float* row = &values[0];
    for (unsigned r = 0; r < rows; ++r, row += n) {
      double sum = 0;
      for (unsigned i = 0; i < n; ++i) {
        sum += static_cast<double>(row[i]);
        row[i] = static_cast<float>(sum);
      }
    }
    return true;
  }
};

}  // namespace popops
#else
#include "poplibs/popops/data/estimate.h"

namespace popops {

Estimates estimates_cumulative_sum() {
  return {{"popops::CumulativeSum", internal::loop_cost("values", {.cycles_per_element = 2, .flops_per_element = 1})}};
}

}  // namespace popops
#endif
