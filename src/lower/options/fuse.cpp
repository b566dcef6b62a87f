#include "lower/terms/settings.h"

namespace pando::lower {

OptionRow option_fuse() {
  return {.name = "fuse", .effect = "chains of element-wise ops become one pass over their operands", .otherwise = true};
}

}  // namespace pando::lower
