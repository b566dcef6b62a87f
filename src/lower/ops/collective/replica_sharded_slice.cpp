#include "lower/parts/op_lowering.h"
#include "lower/shared/replicas.h"

namespace pando::lower {

extern const Row lower_replica_sharded_slice;
constexpr Row lower_replica_sharded_slice = {
    .name = "replica_sharded_slice",
    .lower =
        [](OpLowering& o) {
          const auto grouping = grouping_of(o);
          const auto size = static_cast<std::size_t>(o.result_type().shape[0]);
          o.result(0, own_part(o, in_parts(o, o.operand(0), static_cast<std::size_t>(grouping.size()), size), 0, grouping));
        },
};

}  // namespace pando::lower
