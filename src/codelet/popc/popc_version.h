// The version that popc and the library share: of the .gp format, and of the compiler's own sources (so that a cache never
// serves what another build of popc made).
#pragma once

#include <string>

namespace pando {

// Third word of `popc --version`.
std::string popc_version();
// Changes whenever popc may produce something else for the same source.
std::string popc_build();

}  // namespace pando
