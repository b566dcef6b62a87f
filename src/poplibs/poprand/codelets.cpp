#include "poprand/codelets.hpp"

#include "poplibs/codelet_file.h"

namespace poprand {

#define X(file) pando::poplibs::Estimates estimates_##file();
#include "poprand_codelets.inc"
#undef X

void addCodelets(poplar::Graph& graph) {
#define X(file) &estimates_##file,
  pando::poplibs::add_codelet_file(graph, "poprand", reinterpret_cast<const void*>(&addCodelets), {
#include "poprand_codelets.inc"
  });
#undef X
}

}  // namespace poprand
