#include "lower/parts/op_lowering.h"
#include "lower/shared/windows/convolutions.h"
#include "lower/shared/windows/pooling_by_views.h"

namespace pando::lower {

extern const Row lower_average_pool_grad;
constexpr Row lower_average_pool_grad = {
    .name = "average_pool_grad",
    .makes_tensor = true,
    .lower =
        [](OpLowering& o) {
          const ir::Pooling pooling = ir::pooling_of(o.attributes(), o.attributes().ints("shape"));
          if (has_gaps(pooling)) return o.result(0, average_pool_gradient_by_views(o, o.operand(0), pooling));
          o.need(Library::popnn);
          const auto p = pooling_params(o.attributes(), o.attributes().ints("shape"), o.operand_type(0).dtype, popnn::PoolingType::AVG);
          o.result(0, popnn::pooling::poolInputGradient(o.graph(), p, 1, o.operand(0), o.program(), o.name()));
        },
};

}  // namespace pando::lower
