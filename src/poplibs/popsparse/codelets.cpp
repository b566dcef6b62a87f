#include "popsparse/codelets.hpp"

#include "kernels_version.h"
#include "poplibs/codelet_file.h"

namespace popsparse {

using pando::poplibs::Estimates;

#define X(file) Estimates estimates_##file();
#include "popsparse_codelets.inc"
#undef X

void addCodelets(poplar::Graph& graph) {
#define X(file) &estimates_##file,
  pando::poplibs::add_codelet_file(graph, "popsparse", reinterpret_cast<const void*>(&addCodelets), PANDO_KERNELS_VERSION_NAME,
                                   {
#include "popsparse_codelets.inc"
                                   });
#undef X
}

}  // namespace popsparse
