#include "lower/parts/op_lowering.h"
#include "lower/shared/replicas.h"

namespace pando::lower {

extern const Row lower_replicated_slice;
constexpr Row lower_replicated_slice = {
    .name = "replicated_slice",
    .lower =
        [](OpLowering& o) {
          const auto grouping = grouping_of(o);
          const auto axis = static_cast<unsigned>(o.attributes().integer("axis"));
          const poplar::Tensor t = o.operand(0);
          const auto n = static_cast<std::size_t>(grouping.size());
          o.result(0, own_part(o, t.reshapePartial(axis, axis + 1, {n, t.dim(axis) / n}), axis, grouping));
        },
};

}  // namespace pando::lower
