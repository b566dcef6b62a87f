// One time of the sums over paths from the beginning: of a part of the states.
#include "poplibs/popnn/codelets/ctc/log_sum.h"
#ifdef __POPC__
#include <poplar/Vertex.hpp>

namespace popnn {

class CtcForward : public poplar::Vertex {
 public:
  CtcForward();
  poplar::Input<poplar::Vector<float>> probs;       // a row of `width` for each time
  poplar::InOut<poplar::Vector<float>> sums;        // the same; with the probability of the time itself
  poplar::Input<poplar::Vector<float>> neighbours;  // the two states before, one time earlier
  poplar::Output<poplar::Vector<float>> leaves;     // the last two states of this time
  poplar::Input<poplar::Vector<unsigned>> sequence;
  poplar::Input<unsigned> step;
  const unsigned first;
  const unsigned width;
  bool compute() {
    const Sequence s = sequence_of(sequence, sums.size() / width);
    const unsigned t = step;
    if (t >= s.time) return true;
    float* row = &sums[t * width];
    const float* earlier = row - width;
    for (unsigned i = 0; i < width; ++i) {
      const unsigned state = first + i;
      float sum = state < 2 ? 0.0f : kNever;
      if (t > 0) {
        sum = log_sum(earlier[i], i >= 1 ? earlier[i - 1] : neighbours[1]);
        if (state >= 3 && skips(s, state - 2)) sum = log_sum(sum, i >= 2 ? earlier[i - 2] : neighbours[i]);
      }
      row[i] = sum + probs[t * width + i];
      if (i + 2 >= width) leaves[i + 2 - width] = row[i];
    }
    return true;
  }
};

}  // namespace popnn
#else
#include "poplibs/codelet_file.h"

namespace popnn {

using namespace pando::poplibs;

// Two sums of logarithms for every other state, one for the rest; each takes an exponential and a logarithm.
Estimates estimates_ctc_forward() {
  return {{"popnn::CtcForward", [](const VertexIntrospector& vertex, const Target& target) {
             return VertexPerfEstimate(40 + 50 * vertex.getFieldInfo("width").getInitialValue<unsigned>(target));
           }}};
}

}  // namespace popnn
#endif
