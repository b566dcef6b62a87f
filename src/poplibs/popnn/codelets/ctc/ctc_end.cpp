// The sum over the paths that end in a part of the states.
#include "poplibs/popnn/codelets/ctc/log_sum.h"
#ifdef __POPC__
#include <poplar/Vertex.hpp>

namespace popnn {

class CtcEnd : public poplar::Vertex {
 public:
  CtcEnd();
  poplar::Input<poplar::Vector<float>> sums;  // forward: a row of `width` for each time
  poplar::Input<poplar::Vector<unsigned>> sequence;
  poplar::Output<float> out;
  const unsigned first;
  const unsigned width;
  bool compute() {
    const Sequence s = sequence_of(sequence, sums.size() / width);
    const unsigned last = 2 * s.length;
    float sum = kNever;
    if (s.time == 0 && s.length == 0 && first == 0) sum = 0;  // nothing spells an empty label
    for (unsigned i = 0; i < width && s.time > 0; ++i)
      if (first + i == last || first + i + 1 == last) sum = log_sum(sum, sums[(s.time - 1) * width + i]);
    *out = sum;
    return true;
  }
};

}  // namespace popnn
#else
#include "poplibs/codelet_file.h"

namespace popnn {

using namespace pando::poplibs;

Estimates estimates_ctc_end() {
  return {{"popnn::CtcEnd", [](const VertexIntrospector& vertex, const Target& target) {
             return VertexPerfEstimate(80 + 4 * vertex.getFieldInfo("width").getInitialValue<unsigned>(target));
           }}};
}

}  // namespace popnn
#endif
