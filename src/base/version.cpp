#include "base/version.h"

#include "version_numbers.h"

namespace pando {

std::string_view version() { return PANDO_VERSION; }
std::string_view sdk_version() { return PANDO_SDK_VERSION; }

}  // namespace pando
