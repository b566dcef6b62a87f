// The loss of a sequence from the sums over the paths that end in each part of its states.
#include "poplibs/popnn/codelets/ctc/log_sum.h"
#ifdef __POPC__
#include <poplar/HalfFloat.hpp>
#include <poplar/Vertex.hpp>

namespace popnn {

template <class T>
class CtcLoss : public poplar::Vertex {
 public:
  CtcLoss();
  poplar::Input<poplar::Vector<float>> ends;
  poplar::Output<T> loss;
  poplar::Output<float> total;
  const bool zeroInfinity;
  bool compute() {
    float sum = kNever;
    for (unsigned i = 0; i < ends.size(); ++i) sum = log_sum(sum, ends[i]);
    *total = sum;
    *loss = static_cast<T>(sum >= kHardly ? -sum : zeroInfinity ? 0.0f : __builtin_inff());
    return true;
  }
};

template class CtcLoss<float>;
template class CtcLoss<half>;

}  // namespace popnn
#else
#include "poplibs/codelet_file.h"

namespace popnn {

using namespace pando::poplibs;

Estimates estimates_ctc_loss() {
  return for_types("popnn::CtcLoss", {poplar::FLOAT, poplar::HALF}, [](const poplar::Type&) {
    return [](const VertexIntrospector& vertex, const Target&) { return VertexPerfEstimate(20 + 25 * vertex.getFieldInfo("ends").size()); };
  });
}

}  // namespace popnn
#endif
