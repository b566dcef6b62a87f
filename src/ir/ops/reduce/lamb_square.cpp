#include "ir/meaning/reduction.h"
#include "ir/rows/define.h"

namespace pando::ir {

extern const OpRow op_lamb_square;
constexpr OpRow op_lamb_square = checked({
    .name = "lamb_square",
    .doc = "The sum of the squares of all elements, as a float32 scalar.",
    .signature = "lamb_square(t: Tensor) -> Tensor",
    .module = "lamb",
    .operands = {{{"t", any_floating}}},
    .infer = [](Inference& in) { in.result(DType::float32, {}); },
    .reference = [](Evaluation& e) {
      double sum = 0;
      for (std::int64_t i = 0; i < e.operand(0).elements(); ++i) sum += e.operand(0).number(i) * e.operand(0).number(i);
      HostTensor out = e.fresh();
      out.set(0, sum);
      e.result(std::move(out));
    },
    .cost = reduction_cost,
    .samples = unary_samples,
    .popart_type = "LambSquare",
    .subscripts = total_subscripts,
});

}  // namespace pando::ir
