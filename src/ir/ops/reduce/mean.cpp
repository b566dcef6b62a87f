#include "ir/meaning/formula.h"
#include "ir/meaning/reduction.h"
#include "ir/rows/define.h"

#include <cmath>
#include <numeric>

namespace pando::ir {

namespace {

// The sum of what is here, times one over how many there are in all.
bool mean_as_sums(MeanExpansion& x) {
  const Type& in = x.type_of(x.operand(0));
  const double n = static_cast<double>(elements_of(in.shape)) / static_cast<double>(elements_of(x.result_type().shape));
  const DType dtype = in.dtype;
  const ValueId sum = x.op("sum", {x.operand(0)}, x.attributes());
  x.result(x.op("mul", {sum, x.scalar(dtype, 1 / n)}));
  return true;
}

}  // namespace

extern const OpRow op_mean;
constexpr OpRow op_mean = checked({
    .name = "mean",
    .doc = "The mean along the axes; they stay with length 1 where keepdims says so.",
    .signature = "mean(t: Tensor, axis: Optional[Union[int, Iterable[int]]] = None, keepdims: bool = False) -> Tensor",
    .operands = {{{"t", any_floating}}},
    .attributes = {{{"axis", AttributeKind::ints}, {"keepdims", AttributeKind::flag, false}}},
    .infer = infer_reduction,
    .reference = [](Evaluation& e) {
      reduce_groups(e, [](std::span<const double> v) {
        return std::accumulate(v.begin(), v.end(), 0.0) / static_cast<double>(v.size());
      });
    },
    .differentiable = Differentiable::by_gradient,
    .gradient = [](Gradient& g) {
      const double n = static_cast<double>(elements_of(g.operand_type(0).shape)) / static_cast<double>(elements_of(g.result_type().shape));
      auto dy = formula(g, g.grad());
      // 1 / n of many elements is too small for a half: its root is not.
      const int factors = g.operand_type(0).dtype == DType::float16 && n > 2048 ? 2 : 1;
      for (int i = 0; i < factors; ++i) dy = dy * std::pow(n, -1.0 / factors);
      g.give(0, spread(g, dy));
    },
    .cost = reduction_cost,
    .samples = reduction_samples,
    .popart_type = "ReduceMean",
    .subscripts = whole_axis_subscripts,
    .as_sums = mean_as_sums,
});

}  // namespace pando::ir
