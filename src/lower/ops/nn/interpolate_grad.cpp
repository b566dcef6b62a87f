#include "lower/shared/windows/interpolation.h"

namespace pando::lower {

extern const Row lower_interpolate_grad;
constexpr Row lower_interpolate_grad = {
    .name = "interpolate_grad",
    .lower = [](OpLowering& o) { interpolate_dimensions(o, o.result_type().shape, o.operand_type(0).shape, true); },
};

}  // namespace pando::lower
