#include "ir/rows/define.h"

namespace pando::ir {

extern const OpRow op_logical_not;
constexpr OpRow op_logical_not = checked({
    .name = "logical_not",
    .doc = "true where the element is false.",
    .signature = "logical_not(t: Tensor) -> Tensor",
    .operands = {{{"t", only_bool}}},
    .infer = same_as_first,
    .reference = map_unary([](double x) { return x == 0; }),
    .differentiable = Differentiable::rejected,
    .samples = [] {
      Sample s;
      s.operands = {{DType::boolean, {2, 3}, -1, 1, {}}};
      return std::vector{s};
    },
    .elementwise = true,
    .popart_type = "Not",
});

}  // namespace pando::ir
