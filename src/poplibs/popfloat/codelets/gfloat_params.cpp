// A format as casts read it, from the number that describes it.
#ifdef __POPC__
#include <poplar/Vertex.hpp>

#include "poplibs/popfloat/gfloat_code.h"

namespace popfloat {

class GfloatParams : public poplar::Vertex {
 public:
  GfloatParams();
  poplar::Input<poplar::Vector<int>> packed;  // the packed parameters; the bias, if it is known better
  poplar::Output<poplar::Vector<int, poplar::VectorLayout::ONE_PTR>> param;

  bool compute() {
    param[0] = packed[0];
    param[1] = packed.size() > 1 ? packed[1] : bias_of_packed(packed[0]);
    return true;
  }
};

}  // namespace popfloat
#else
#include "poplibs/codelet_file.h"

namespace popfloat {

using namespace pando::poplibs;

Estimates estimates_gfloat_params() {
  return {{"popfloat::GfloatParams", [](const VertexIntrospector&, const Target&) { return VertexPerfEstimate(20); }}};
}

}  // namespace popfloat
#endif
