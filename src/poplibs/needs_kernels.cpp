// A vertex that nobody uses and that is in every library's codelet file: it refers to the symbol that only the libpando_kernels.so
// of this build has. So a codelet file cannot be loaded with other kernels, whose arguments may mean something else.
#include <poplar/Vertex.hpp>

#include "kernels_version.h"

extern "C" const unsigned PANDO_KERNELS_VERSION;

namespace LIBRARY {

class NeedsKernels : public poplar::Vertex {
 public:
  NeedsKernels();
  poplar::Output<unsigned> out;

  bool compute() {
    *out = PANDO_KERNELS_VERSION;
    return true;
  }
};

}  // namespace LIBRARY
