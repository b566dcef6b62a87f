#include "popops/codelets.hpp"

#include "kernels_version.h"
#include "poplibs/codelet_file.h"

namespace popops {

#define X(file) pando::poplibs::Estimates estimates_##file();
#include "popops_codelets.inc"
#undef X

void addCodelets(poplar::Graph& graph) {
#define X(file) &estimates_##file,
  pando::poplibs::add_codelet_file(graph, "popops", reinterpret_cast<const void*>(&addCodelets), PANDO_KERNELS_VERSION_NAME,
                                   {
#include "popops_codelets.inc"
                                   });
#undef X
}

}  // namespace popops
