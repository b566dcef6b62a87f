// One time of the sums over paths from the end: of a part of the states.
#include "poplibs/popnn/codelets/ctc/log_sum.h"
#ifdef __POPC__
#include <poplar/Vertex.hpp>

namespace popnn {

class CtcBackward : public poplar::Vertex {
 public:
  CtcBackward();
  poplar::Input<poplar::Vector<float>> probs;       // a row of `width` for each time
  poplar::InOut<poplar::Vector<float>> sums;        // the same; without the probability of the time itself
  poplar::Input<poplar::Vector<float>> neighbours;  // the two states behind, one time later, with that time's probability
  poplar::Output<poplar::Vector<float>> leaves;     // the first two states of this time, with its probability
  poplar::Input<poplar::Vector<unsigned>> sequence;
  poplar::Input<unsigned> step;
  const unsigned first;
  const unsigned width;

  bool compute() {
    const Sequence s = sequence_of(sequence, sums.size() / width);
    const unsigned t = sums.size() / width - 1 - step;
    if (t >= s.time) return true;
    float* row = &sums[t * width];
    const float *now = &probs[t * width], *later = row + width, *later_probs = now + width;
    const auto from = [&](unsigned i) { return i < width ? later[i] + later_probs[i] : neighbours[i - width]; };
    for (unsigned i = 0; i < width; ++i) {
      const unsigned state = first + i;
      if (t + 1 == s.time) {  // a path ends in its last class or in the blank behind it
        row[i] = state == 2 * s.length || state + 1 == 2 * s.length ? 0.0f : kNever;
      } else {
        row[i] = log_sum(from(i), from(i + 1));
        if (skips(s, state)) row[i] = log_sum(row[i], from(i + 2));
      }
      if (i < 2) leaves[i] = row[i] + now[i];
    }
    return true;
  }
};

}  // namespace popnn
#else
#include "poplibs/codelet_file.h"

namespace popnn {

using namespace pando::poplibs;

Estimates estimates_ctc_backward() {
  return {{"popnn::CtcBackward", [](const VertexIntrospector& vertex, const Target& target) {
             return VertexPerfEstimate(40 + 54 * vertex.getFieldInfo("width").getInitialValue<unsigned>(target));
           }}};
}

}  // namespace popnn
#endif
