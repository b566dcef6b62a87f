#include "lower/parts/op_lowering.h"
#include "lower/shared/replicas.h"

namespace pando::lower {

extern const Row lower_replicated_all_reduce;
constexpr Row lower_replicated_all_reduce = {
    .name = "replicated_all_reduce",
    .lower =
        [](OpLowering& o) {
          const poplar::Tensor sum = combined(o, gathered(o, o.operand(0), grouping_of(o)));
          if (!o.in_place()) return o.result(0, sum);
          const poplar::Tensor home = o.take_undefined(0).flatten();
          o.assign_all({&home, 1}, {&sum, 1});
          o.result_taken(0, 0);
        },
};

}  // namespace pando::lower
