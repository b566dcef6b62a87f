// Which Pando this is. The number is CMakeLists.txt's, once for the tools, the libraries and the packages.
#pragma once

#include <string_view>

namespace pando {

std::string_view version();
// Of the interfaces: what public Poplar and PopXL programs take for the version of the SDK, and compare with what they need.
std::string_view sdk_version();

}  // namespace pando
