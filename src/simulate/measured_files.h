// Files of measured_machines/, as the build found them.
#pragma once

#include <string_view>

namespace pando::simulate {

extern const std::string_view kMeasuredH100;

}  // namespace pando::simulate
