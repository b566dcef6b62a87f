#include "lower/terms/settings.h"

namespace pando::lower {

OptionRow option_check_float8_scales() {
  return {
      .name = "check_float8_scales",
      .popart = "throwIfLog2ScaleTensorNotInRange",
      .effect =
          "a scale of float8 data beyond -32 to 31 stops the run with `poplar::application_runtime_error`; without, results are undefined",
      .otherwise = false};
}

}  // namespace pando::lower
