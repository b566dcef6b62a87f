#include "lower/parts/op_lowering.h"
#include "lower/shared/replicas.h"

namespace pando::lower {

extern const Row lower_differentiable_replicated_all_reduce;
constexpr Row lower_differentiable_replicated_all_reduce = {
    .name = "differentiable_replicated_all_reduce",
    .lower =
        [](OpLowering& o) {
          if (o.attributes().flag("identical_inputs")) return o.result_view(0, o.operand(0));
          o.result(0, combined(o, gathered(o, o.operand(0), grouping_of(o))));
        },
};

}  // namespace pando::lower
