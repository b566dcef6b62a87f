// The gradient of normalised rows, and these rows' share of the gradients of gamma and beta; on the CPU device.
#ifdef __POPC__
#include <poplar/Vertex.hpp>

#include "kernels/rows/norm_rows.h"

namespace popnn {

class NormRowsGradient : public poplar::Vertex {
 public:
  NormRowsGradient();
  poplar::Input<poplar::Vector<float>> in, gradient, gamma, mean, inverse;
  poplar::Output<poplar::Vector<float>> out, gammaGradient, betaGradient;
  bool compute() {
    pando_norm_rows_gradient_f32(mean.size(), gamma.size(), &in[0], &gradient[0], &gamma[0], &mean[0], &inverse[0], &out[0],
                                 &gammaGradient[0], &betaGradient[0]);
    return true;
  }
};

}  // namespace popnn
#else
#include "poplibs/codelet_file.h"

namespace popnn {

using namespace pando::poplibs;

// Two elements a cycle: five operations for the sums, four for the result.
Estimates estimates_norm_rows_gradient() {
  using namespace poplar;
  return {{"popnn::NormRowsGradient", [](const VertexIntrospector& vertex, const Target&) {
             const std::uint64_t elements = vertex.getFieldInfo("in").size(), rows = vertex.getFieldInfo("mean").size();
             return VertexPerfEstimate(30 + 9 * elements / 2 + 20 * rows, 13 * elements);
           }}};
}

}  // namespace popnn
#endif
