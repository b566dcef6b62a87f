// One time of the sums over paths, of a part of the states: from the beginning up to a time, or from a time to the end.
#include "poplibs/popnn/codelets/ctc/log_sum.h"
#ifdef __POPC__
#include <poplar/Vertex.hpp>

namespace popnn {

template <bool ToEnd>
class CtcStep : public poplar::Vertex {
 public:
  CtcStep();
  poplar::Input<poplar::Vector<float>> probs;       // a row of `width` for each time
  poplar::InOut<poplar::Vector<float>> sums;        // the same; of those up to a time, with the probability of the time itself
  poplar::Input<poplar::Vector<float>> neighbours;  // the two states before, one time earlier; the two behind, one time later
  poplar::Output<poplar::Vector<float>> leaves;     // what they are to the next part: with the time's probability
  poplar::Input<poplar::Vector<unsigned>> sequence;
  poplar::Input<unsigned> step;
  const unsigned first;
  const unsigned width;

  bool compute() {
    const unsigned times = sums.size() / width, t = ToEnd ? times - 1 - step : *step;
    const Sequence s = sequence_of(sequence, times);
    if (t >= s.time) return true;
    float* row = &sums[t * width];
    const float* now = &probs[t * width];
    if (ToEnd)
      to_end(s, t, row, now);
    else
      from_beginning(s, t, row, now);
    return true;
  }

 private:
  void from_beginning(const Sequence& s, unsigned t, float* row, const float* now) {
    const float* earlier = row - width;
    for (unsigned i = 0; i < width; ++i) {
      const unsigned state = first + i;
      float sum = state < 2 ? 0.0f : kNever;
      if (t > 0) {
        sum = log_sum(earlier[i], i >= 1 ? earlier[i - 1] : neighbours[1]);
        if (state >= 3 && skips(s, state - 2)) sum = log_sum(sum, i >= 2 ? earlier[i - 2] : neighbours[i]);
      }
      row[i] = sum + now[i];
      if (i + 2 >= width) leaves[i + 2 - width] = row[i];
    }
  }
  void to_end(const Sequence& s, unsigned t, float* row, const float* now) {
    const float *later = row + width, *later_probs = now + width;
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
  }
};

template class CtcStep<false>;
template class CtcStep<true>;

}  // namespace popnn
#else
#include "poplibs/codelet_file.h"

namespace popnn {

using namespace pando::poplibs;

// Two sums of logarithms for every other state, one for the rest; each takes an exponential and a logarithm.
Estimates estimates_ctc_step() {
  const auto cost = [](unsigned of_state) {
    return [of_state](const VertexIntrospector& vertex, const Target& target) {
      return VertexPerfEstimate(40 + of_state * vertex.getFieldInfo("width").getInitialValue<unsigned>(target));
    };
  };
  return {{"popnn::CtcStep<false>", cost(50)}, {"popnn::CtcStep<true>", cost(54)}};
}

}  // namespace popnn
#endif
