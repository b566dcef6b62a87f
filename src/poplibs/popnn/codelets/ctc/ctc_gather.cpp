// Of each time the logarithms of the probabilities of the classes that a label's states stand for.
#include "poplibs/popnn/codelets/ctc/log_sum.h"
#ifdef __POPC__
#include <poplar/HalfFloat.hpp>
#include <poplar/Vertex.hpp>

namespace popnn {

template <class T>
class CtcGather : public poplar::Vertex {
 public:
  CtcGather();
  poplar::Input<poplar::Vector<T>> in;  // a row of classes for each time
  poplar::Input<poplar::Vector<unsigned>> sequence;
  poplar::Vector<poplar::Output<poplar::Vector<float>>> out;  // of each part of the states a row for each time
  const unsigned classes;
  const unsigned blank;
  bool compute() {
    const Sequence s = sequence_of(sequence);
    const unsigned times = in.size() / classes;
    unsigned first = 0;
    for (unsigned p = 0; p < out.size(); ++p) {
      const unsigned width = out[p].size() / times;
      for (unsigned i = 0; i < width; ++i) {
        const unsigned state = first + i, c = state % 2 == 0 ? blank : s.labels[state / 2];
        // Behind a label's end there may be anything.
        for (unsigned t = 0; t < times; ++t) out[p][t * width + i] = c < classes ? static_cast<float>(in[t * classes + c]) : kNever;
      }
      first += width;
    }
    return true;
  }
};

template class CtcGather<float>;
template class CtcGather<half>;

}  // namespace popnn
#else
#include "poplibs/codelet_file.h"

namespace popnn {

using namespace pando::poplibs;

Estimates estimates_ctc_gather() {
  return for_types("popnn::CtcGather", {poplar::FLOAT, poplar::HALF}, [](const poplar::Type&) {
    return [](const VertexIntrospector& vertex, const Target&) {
      std::size_t elements = 0;
      const auto out = vertex.getFieldInfo("out");
      for (std::size_t p = 0; p < out.size(); ++p) elements += out.getSizeAtIndex(p);
      return VertexPerfEstimate(30 + 4 * elements + 12 * out.size());
    };
  });
}

}  // namespace popnn
#endif
