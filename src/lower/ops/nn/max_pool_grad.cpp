#include "lower/convolutions.h"
#include "lower/lowering.h"

namespace pando::lower {

extern const Row lower_max_pool_grad;
constexpr Row lower_max_pool_grad = {
    .name = "max_pool_grad",
    // Where several elements of a window are its largest, each gets its part of the gradient.
    .lower =
        [](OpLowering& o) {
          o.lowering().need(Library::popnn);
          const auto p = pooling_params(o.attributes(), o.operand_type(0).shape, o.operand_type(0).dtype, popnn::PoolingType::MAX);
          o.result(0, popnn::pooling::poolInputGradient(o.graph(), p, o.operand(0), o.operand(1), o.operand(2), true, o.program(), o.name()));
        },
};

}  // namespace pando::lower
