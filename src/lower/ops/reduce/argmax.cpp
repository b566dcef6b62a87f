#include "lower/shared/reductions.h"

#include <popnn/Loss.hpp>

namespace pando::lower {

extern const Row lower_argmax;
constexpr Row lower_argmax = {
    .name = "argmax",
    .makes_tensor = true,
    .lower = [](OpLowering& o) { lower_extreme_positions(o, popnn::argMax); },
};

}  // namespace pando::lower
