#include "lower/parts/op_lowering.h"
#include "lower/shared/windows/roi_align.h"

namespace pando::lower {

extern const Row lower_roi_align_grad;
constexpr Row lower_roi_align_grad = {.name = "roi_align_grad", .makes_tensor = true, .lower = [](OpLowering& o) {
                                        o.result(0, roi_means_gradient(o, o.operand(0), o.attributes().ints("shape"), 1));
                                      }};

}  // namespace pando::lower
