#include "lower/parts/op_lowering.h"
#include "lower/shared/replicas.h"

namespace pando::lower {

extern const Row lower_replicated_reduce_scatter;
constexpr Row lower_replicated_reduce_scatter = {
    .name = "replicated_reduce_scatter",
    .lower =
        [](OpLowering& o) {
          const auto grouping = grouping_of(o);
          const poplar::Tensor sum = combined(o, gathered(o, o.operand(0), grouping));
          const auto size = static_cast<std::size_t>(o.result_type().shape[0]);
          o.result(0, own_part(o, in_parts(o, sum, static_cast<std::size_t>(grouping.size()), size), 0, grouping));
        },
};

}  // namespace pando::lower
