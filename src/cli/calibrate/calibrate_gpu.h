// calibrate_gpu.py, as the build found it.
#pragma once

#include <string_view>

namespace pando::cli {

extern const std::string_view kCalibrateGpu;

}  // namespace pando::cli
