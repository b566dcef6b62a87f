#include "poplin/codelets.hpp"

#include "kernels_version.h"
#include "poplibs/codelet_file.h"

namespace poplin {

#define X(file) pando::poplibs::Estimates estimates_##file();
#include "poplin_codelets.inc"
#undef X

void addCodelets(poplar::Graph& graph) {
#define X(file) &estimates_##file,
  pando::poplibs::add_codelet_file(graph, "poplin", reinterpret_cast<const void*>(&addCodelets), PANDO_KERNELS_VERSION_NAME,
                                   {
#include "poplin_codelets.inc"
                                   });
#undef X
}

}  // namespace poplin
