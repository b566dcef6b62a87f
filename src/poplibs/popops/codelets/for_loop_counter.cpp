// count += step, and whether there is a round to go. Numbers are as many bits either way; `isSigned` says how they compare.
#ifdef __POPC__
#include <poplar/Vertex.hpp>

namespace popops {

class ForLoopCounter : public poplar::Vertex {
 public:
  ForLoopCounter();
  poplar::InOut<unsigned int> count;
  poplar::Input<unsigned int> limit;
  poplar::Output<bool> goesOn;
  const int step;
  const bool isSigned;

  bool compute() {
    const unsigned next = *count + static_cast<unsigned>(step);
    const long long now = isSigned ? static_cast<int>(next) : static_cast<long long>(next);
    const long long end = isSigned ? static_cast<int>(*limit) : static_cast<long long>(*limit);
    *count = next;
    *goesOn = step > 0 ? now < end : now > end;
    return true;
  }
};

}  // namespace popops
#else
#include "poplibs/codelet_file.h"

namespace popops {

using namespace pando::poplibs;

Estimates estimates_for_loop_counter() {
  return {{"popops::ForLoopCounter", [](const VertexIntrospector&, const Target&) { return VertexPerfEstimate(20); }}};
}

}  // namespace popops
#endif
