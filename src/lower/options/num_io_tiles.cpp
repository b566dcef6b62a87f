#include "ir/error.h"
#include "lower/terms/settings.h"

namespace pando::lower {

OptionRow option_num_io_tiles() {
  return {.name = "num_io_tiles",
          .popart = "numIOTiles",
          .effect = "of each IPU, tiles that compute nothing and hold what `io_tiles()` places there; 0: it lies among the others",
          .otherwise = std::int64_t{0},
          .ipus_only = true,
          .check = [](const OptionValue& value, const OptionContext& c) {
            const std::int64_t io = std::get<std::int64_t>(value);
            if (io < 0 || (io > 0 && io >= c.tiles))
              ir::reject(ir::ErrorClass::value, "io-tiles", "{} IO tiles; an IPU has {} tiles in all", io, c.tiles);
          }};
}

}  // namespace pando::lower
