#include "popnn/codelets.hpp"

#include "kernels_version.h"
#include "poplibs/codelet_file.h"

namespace popnn {

#define X(file) pando::poplibs::Estimates estimates_##file();
#include "popnn_codelets.inc"
#undef X

void addCodelets(poplar::Graph& graph) {
#define X(file) &estimates_##file,
  pando::poplibs::add_codelet_file(graph, "popnn", reinterpret_cast<const void*>(&addCodelets), PANDO_KERNELS_VERSION_NAME,
                                   {
#include "popnn_codelets.inc"
                                   });
#undef X
}

}  // namespace popnn
