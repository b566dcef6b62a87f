#include "ir/meaning/elements.h"
#include "ir/meaning/reduction.h"
#include "ir/op_row.h"

namespace pando::ir {

extern const OpRow op_argmax;
constexpr OpRow op_argmax = checked({
    .name = "argmax",
    .doc = "Where along dim the largest element lies (the first of equal ones; numbers come before NaN), as int32. dim stays with length 1 "
           "where keepdim says "
           "so.",
    .signature = "argmax(t: Tensor, dim: int = 0, keepdim: bool = False) -> Tensor",
    .module = "argminmax",
    .operands = {{{"t", any_numeric}}},
    .attributes = {{{"dim", AttributeKind::integer}, {"keepdim", AttributeKind::flag, false}}},
    .infer =
        [](Inference& in) {
          const Ints axes{axis_of(in, "dim")};
          check_elements(in, axes);
          in.result(DType::int32, reduced_shape(in.shape(0), axes, in.attributes().flag("keepdim")));
        },
    .reference =
        [](Evaluation& e) {
          const HostTensor& x = e.operand(0);
          HostTensor out = e.fresh();
          const AxisView view(x.shape(), e.attributes().integer("dim"));
          for (std::int64_t o = 0; o < view.outer; ++o) {
            for (std::int64_t i = 0; i < view.inner; ++i) {
              std::int64_t best = 0;
              for (std::int64_t a = 1; a < view.extent; ++a) {
                if (stands_before(x.number(view.position(o, a, i)), x.number(view.position(o, best, i)), true)) best = a;
              }
              out.set_integer(o * view.inner + i, best);
            }
          }
          e.result(std::move(out));
        },
    .cost = reduction_cost,
    .samples = along_dim_samples,
    .popart_type = "ArgMax",
});

}  // namespace pando::ir
