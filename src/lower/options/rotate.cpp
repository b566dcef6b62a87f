#include "lower/terms/settings.h"

namespace pando::lower {

OptionRow option_rotate() {
  return {.name = "rotate",
          .effect = "products, convolutions, tables and vectors begin where the tiles are least full; without, where their shapes say",
          .otherwise = true};
}

}  // namespace pando::lower
