#include "lower/parts/op_lowering.h"
#include "lower/shared/slices.h"

namespace pando::lower {

extern const Row lower_slice;
constexpr Row lower_slice = {
    .name = "slice",
    .lower = [](OpLowering& o) { o.result_view(0, sliced(o.operand(0), o.operand_type(0).shape, o.attributes())); },
};

}  // namespace pando::lower
