// flag = !flag.
#ifdef __POPC__
#include <poplar/Vertex.hpp>

namespace popops {

class InvertFlag : public poplar::Vertex {
 public:
  InvertFlag();
  poplar::InOut<bool> flag;

  bool compute() {
    *flag = !*flag;
    return true;
  }
};

}  // namespace popops
#else
#include "poplibs/codelet_file.h"

namespace popops {

using namespace pando::poplibs;

Estimates estimates_invert_flag() {
  return {{"popops::InvertFlag", [](const VertexIntrospector&, const Target&) { return VertexPerfEstimate(15); }}};
}

}  // namespace popops
#endif
