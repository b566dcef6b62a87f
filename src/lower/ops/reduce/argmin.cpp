#include "lower/shared/reductions.h"

#include <popnn/Loss.hpp>

namespace pando::lower {

extern const Row lower_argmin;
constexpr Row lower_argmin = {
    .name = "argmin",
    .makes_tensor = true,
    .lower = [](OpLowering& o) { lower_extreme_positions(o, popnn::argMin); },
};

}  // namespace pando::lower
