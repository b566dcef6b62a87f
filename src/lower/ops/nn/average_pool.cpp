#include "lower/convolutions.h"
#include "lower/lowering.h"

namespace pando::lower {

extern const Row lower_average_pool;
constexpr Row lower_average_pool = {
    .name = "average_pool",
    .lower =
        [](OpLowering& o) {
          o.lowering().need(Library::popnn);
          const auto p = pooling_params(o.attributes(), o.operand_type(0).shape, o.operand_type(0).dtype, popnn::PoolingType::AVG);
          o.result(0, popnn::pooling::pool(o.graph(), p, o.operand(0), o.program(), o.name()));
        },
};

}  // namespace pando::lower
