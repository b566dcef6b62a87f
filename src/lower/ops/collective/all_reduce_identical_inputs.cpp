#include "lower/parts/op_lowering.h"

namespace pando::lower {

extern const Row lower_all_reduce_identical_inputs;
// Forward, the tensors are alike already.
constexpr Row lower_all_reduce_identical_inputs = {
    .name = "all_reduce_identical_inputs",
    .lower =
        [](OpLowering& o) {
          for (std::size_t i = 0; i < o.operands(); ++i) o.result_view(i, o.operand(i));
        },
};

}  // namespace pando::lower
