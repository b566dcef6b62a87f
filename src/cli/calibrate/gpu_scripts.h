// calibrate_gpu.py and steps_gpu.py, as the build found them.
#pragma once

#include <string_view>

namespace pando::cli {

extern const std::string_view kCalibrateGpu, kStepsGpu;

}  // namespace pando::cli
