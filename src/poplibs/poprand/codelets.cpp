#include "poprand/codelets.hpp"

#include "kernels_version.h"
#include "poplibs/codelet_file.h"

namespace poprand {

#define X(file) pando::poplibs::Estimates estimates_##file();
#include "poprand_codelets.inc"
#undef X

void addCodelets(poplar::Graph& graph) {
#define X(file) &estimates_##file,
  pando::poplibs::add_codelet_file(graph, "poprand", reinterpret_cast<const void*>(&addCodelets), PANDO_KERNELS_VERSION_NAME,
                                   {
#include "poprand_codelets.inc"
                                   });
#undef X
}

}  // namespace poprand
