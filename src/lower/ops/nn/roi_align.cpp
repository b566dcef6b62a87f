#include "lower/parts/op_lowering.h"
#include "lower/shared/windows/roi_align.h"

namespace pando::lower {

extern const Row lower_roi_align;
constexpr Row lower_roi_align = {
    .name = "roi_align",
    .makes_tensor = true,
    .lower = [](OpLowering& o) { o.result(0, roi_means(o, o.operand(0), 1)); },
};

}  // namespace pando::lower
