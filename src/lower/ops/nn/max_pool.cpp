#include "lower/parts/op_lowering.h"
#include "lower/shared/windows/convolutions.h"
#include "lower/shared/windows/pooling_by_views.h"

namespace pando::lower {

extern const Row lower_max_pool;
constexpr Row lower_max_pool = {
    .name = "max_pool",
    .makes_tensor = true,
    .lower =
        [](OpLowering& o) {
          const ir::Pooling pooling = ir::pooling_of(o.attributes(), o.operand_type(0).shape);
          if (has_gaps(pooling)) return o.result(0, max_pool_by_views(o, o.operand(0), pooling));
          o.need(Library::popnn);
          const auto p = pooling_params(o.attributes(), o.operand_type(0).shape, o.operand_type(0).dtype, popnn::PoolingType::MAX);
          o.result(0, popnn::pooling::pool(o.graph(), p, o.operand(0), o.program(), o.name()));
        },
};

}  // namespace pando::lower
