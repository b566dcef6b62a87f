// Is every offset less than its dimension? The offsets are tuples of one number per dimension.
#ifdef __POPC__
#include <poplar/Vertex.hpp>

namespace popops {

class CheckRows : public poplar::Vertex {
 public:
  CheckRows();
  poplar::Input<poplar::Vector<unsigned>> offsets;
  poplar::Vector<unsigned> dims;

  bool compute() {
    bool good = true;
    for (unsigned i = 0; i < offsets.size(); i += dims.size())
      for (unsigned d = 0; d < dims.size(); ++d) good &= offsets[i + d] < dims[d];
    return good;
  }
};

}  // namespace popops
#else
#include "poplibs/codelet_file.h"

namespace popops {

using namespace pando::poplibs;

Estimates estimates_check_rows() {
  return {{"popops::CheckRows", [](const VertexIntrospector& vertex, const Target&) {
             return VertexPerfEstimate(20 + 3 * vertex.getFieldInfo("offsets").size());
           }}};
}

}  // namespace popops
#endif
