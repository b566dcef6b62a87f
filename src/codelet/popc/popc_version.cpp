#include "codelet/popc/popc_version.h"

#include "base/version.h"

#ifndef PANDO_POPC_BUILD
#define PANDO_POPC_BUILD "unknown"
#endif

namespace pando {

std::string popc_version() { return std::string(sdk_version()); }
std::string popc_build() { return popc_version() + "-" PANDO_POPC_BUILD; }

}  // namespace pando
