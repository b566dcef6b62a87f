#include "lower/terms/settings.h"

namespace pando::lower {

OptionRow option_epilogues() {
  return {.name = "epilogues",
          .effect = "with `pando.fuse`: what element-wise ops make of a product or a convolution is computed with each part of its result",
          .otherwise = true};
}

}  // namespace pando::lower
