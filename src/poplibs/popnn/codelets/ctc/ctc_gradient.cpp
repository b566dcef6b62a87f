// The gradient of a sequence's loss at some times: of each class minus the probability that the paths are in one of its states then; with
// the gradient of a softmax, the class's own probability is added. Or the sums that this probability is the share of.
#include "poplibs/popnn/codelets/ctc/log_sum.h"
#ifdef __POPC__
#include <poplar/HalfFloat.hpp>
#include <poplar/Vertex.hpp>

namespace popnn {

template <class T>
class CtcGradient : public poplar::Vertex {
 public:
  CtcGradient();
  poplar::Input<poplar::Vector<T>> in;  // a row of classes for each time
  poplar::Input<poplar::Vector<unsigned>> sequence;
  poplar::Vector<poplar::Input<poplar::Vector<float>>> forward;  // of each part of the states a row for each time
  poplar::Vector<poplar::Input<poplar::Vector<float>>> backward;
  poplar::Input<float> total;
  poplar::Output<poplar::Vector<float>> out;  // as `in`
  const unsigned classes;
  const unsigned blank;
  const unsigned time;  // of the first row
  const unsigned form;  // GradientForm
  const bool zeroInfinity;
  bool compute() {
    const Sequence s = sequence_of(sequence);
    const unsigned times = in.size() / classes;
    for (unsigned t = 0; t < times; ++t) {
      float* row = &out[t * classes];
      const bool counts = time + t < s.time && !(zeroInfinity && *total < kHardly);
      for (unsigned c = 0; c < classes; ++c) row[c] = counts ? before_paths(static_cast<float>(in[t * classes + c])) : 0.0f;
      if (counts && (*total > kHardly || is(GradientForm::sums))) add_states(s, row, t, times);
    }
    return true;
  }

 private:
  bool is(GradientForm f) const { return form == static_cast<unsigned>(f); }
  float before_paths(float log_prob) const {
    if (is(GradientForm::sums)) return kLeastLog;
    return is(GradientForm::of_softmax) ? __builtin_expf(log_prob) : 0.0f;
  }
  void add_states(const Sequence& s, float* row, unsigned t, unsigned times) {
    unsigned state = 0;
    for (unsigned p = 0; p < forward.size(); ++p) {
      const unsigned width = forward[p].size() / times;
      for (unsigned i = 0; i < width && state <= 2 * s.length; ++i, ++state) {
        const float paths = forward[p][t * width + i] + backward[p][t * width + i];
        const unsigned c = state % 2 == 0 ? blank : s.labels[state / 2];
        if (paths <= kHardly || c >= classes) continue;
        row[c] = is(GradientForm::sums) ? log_sum(row[c], paths) : row[c] - __builtin_expf(paths - *total);
      }
    }
  }
};

template class CtcGradient<float>;
template class CtcGradient<half>;

}  // namespace popnn
#else
#include "poplibs/codelet_file.h"

namespace popnn {

using namespace pando::poplibs;

Estimates estimates_ctc_gradient() {
  return for_types("popnn::CtcGradient", {poplar::FLOAT, poplar::HALF}, [](const poplar::Type&) {
    return [](const VertexIntrospector& vertex, const Target&) {
      std::size_t states = 0;
      const auto forward = vertex.getFieldInfo("forward");
      for (std::size_t p = 0; p < forward.size(); ++p) states += forward.getSizeAtIndex(p);
      return VertexPerfEstimate(40 + 6 * vertex.getFieldInfo("in").size() + 15 * states);
    };
  });
}

}  // namespace popnn
#endif
