#include "lower/parts/op_lowering.h"
#include "lower/shared/slices.h"

namespace pando::lower {

extern const Row lower_slice_assign;
constexpr Row lower_slice_assign = {
    .name = "slice_assign",
    .lower =
        [](OpLowering& o) {
          const poplar::Tensor base = o.take(0);
          const poplar::Tensor to = sliced(base, o.operand_type(0).shape, o.attributes()), from = o.operand(1);
          o.assign_all({&to, 1}, {&from, 1});
          o.result_taken(0, 0);
        },
};

}  // namespace pando::lower
