// counter = counter + 1
#ifdef __POPC__
#include <poplar/Vertex.hpp>

namespace popops {

class CountUp : public poplar::Vertex {
 public:
  CountUp();
  poplar::InOut<unsigned> counter;

  bool compute() {
    *counter = *counter + 1;
    return true;
  }
};

}  // namespace popops
#else
#include "poplibs/codelet_file.h"

namespace popops {

using namespace pando::poplibs;

Estimates estimates_count_up() {
  return {{"popops::CountUp", [](const VertexIntrospector&, const Target&) { return VertexPerfEstimate(20); }}};
}

}  // namespace popops
#endif
