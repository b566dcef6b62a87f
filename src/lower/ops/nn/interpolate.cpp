#include "lower/shared/windows/interpolation.h"

namespace pando::lower {

extern const Row lower_interpolate;
constexpr Row lower_interpolate = {
    .name = "interpolate",
    .lower = [](OpLowering& o) { interpolate_dimensions(o, o.operand_type(0).shape, o.result_type().shape, false); },
};

}  // namespace pando::lower
