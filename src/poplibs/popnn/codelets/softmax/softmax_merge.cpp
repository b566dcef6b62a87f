// The summary of a row from the summaries of its pieces.
#ifdef __POPC__
#include <poplar/Vertex.hpp>

#include "kernels/rows/softmax.h"

namespace popnn {

class SoftmaxMerge : public poplar::Vertex {
 public:
  SoftmaxMerge();
  poplar::Input<poplar::Vector<float>> in;
  poplar::Output<poplar::Vector<float>> out;
  bool compute() {
    using pando::kernels::SoftmaxSummary;
    pando_softmax_merge(in.size() / 2, reinterpret_cast<const SoftmaxSummary*>(&in[0]), reinterpret_cast<SoftmaxSummary*>(&out[0]));
    return true;
  }
};

}  // namespace popnn
#else
#include "poplibs/codelet_file.h"

namespace popnn {

using namespace pando::poplibs;

Estimates estimates_softmax_merge() {
  return {{"popnn::SoftmaxMerge", [](const VertexIntrospector& vertex, const Target&) {
             const std::size_t pieces = vertex.getFieldInfo("in").size() / 2;
             return VertexPerfEstimate(20 + 8 * pieces, 4 * pieces);
           }}};
}

}  // namespace popnn
#endif
