#include "popfloat/experimental/codelets.hpp"

#include "kernels_version.h"
#include "poplibs/codelet_file.h"

namespace popfloat {

#define X(file) pando::poplibs::Estimates estimates_##file();
#include "popfloat_codelets.inc"
#undef X

namespace experimental {

void addCodelets(poplar::Graph& graph) {
#define X(file) &estimates_##file,
  pando::poplibs::add_codelet_file(graph, "popfloat", reinterpret_cast<const void*>(&addCodelets), PANDO_KERNELS_VERSION_NAME,
                                   {
#include "popfloat_codelets.inc"
                                   });
#undef X
}

}  // namespace experimental
}  // namespace popfloat
