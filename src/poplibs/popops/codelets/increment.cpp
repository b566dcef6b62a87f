// number += step.
#ifdef __POPC__
#include <poplar/Vertex.hpp>

namespace popops {

class Increment : public poplar::Vertex {
 public:
  Increment();
  poplar::InOut<unsigned int> number;
  const unsigned int step;

  bool compute() {
    *number = *number + step;
    return true;
  }
};

}  // namespace popops
#else
#include "poplibs/codelet_file.h"

namespace popops {

using namespace pando::poplibs;

Estimates estimates_increment() {
  return {{"popops::Increment", [](const VertexIntrospector&, const Target&) { return VertexPerfEstimate(15); }}};
}

}  // namespace popops
#endif
