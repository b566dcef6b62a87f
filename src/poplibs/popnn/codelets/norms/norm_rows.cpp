// Rows, each a batch element's, normalised by their own mean and deviation; on the CPU device.
#ifdef __POPC__
#include <poplar/Vertex.hpp>

#include "kernels/rows/norm_rows.h"

namespace popnn {

class NormRows : public poplar::Vertex {
 public:
  NormRows();
  poplar::Input<poplar::Vector<float>> in, gamma, beta;
  poplar::Output<poplar::Vector<float>> out, mean, inverse;
  const float eps;
  bool compute() {
    pando_norm_rows_f32(mean.size(), gamma.size(), &in[0], &gamma[0], &beta[0], eps, &out[0], &mean[0], &inverse[0]);
    return true;
  }
};

}  // namespace popnn
#else
#include "poplibs/codelet_file.h"

namespace popnn {

using namespace pando::poplibs;

// Two elements a cycle in each of three passes; a root for each row.
Estimates estimates_norm_rows() {
  using namespace poplar;
  return {{"popnn::NormRows", [](const VertexIntrospector& vertex, const Target&) {
             const std::uint64_t elements = vertex.getFieldInfo("in").size(), rows = vertex.getFieldInfo("mean").size();
             return VertexPerfEstimate(30 + 3 * elements / 2 + 20 * rows, 8 * elements);
           }}};
}

}  // namespace popnn
#endif
