#include "ir/shared/windows/pooling.h"

#include <algorithm>

namespace pando::ir {

namespace {

void average(Evaluation& e) {
  const Pooling p = pooling_of(e.attributes(), e.operand(0).shape());
  std::vector<double> sums(static_cast<std::size_t>(p.outs)), count(static_cast<std::size_t>(p.outs));
  HostTensor y = e.fresh();
  for (std::int64_t image = 0; image < p.images; ++image) {
    std::fill(sums.begin(), sums.end(), 0.0);
    std::fill(count.begin(), count.end(), 0.0);
    for_each_cell(p.windows, [&](std::int64_t o, std::int64_t, std::int64_t i) {
      sums[static_cast<std::size_t>(o)] += e.operand(0).number(image * p.ins + i);
      count[static_cast<std::size_t>(o)] += 1;
    });
    for (std::int64_t o = 0; o < p.outs; ++o) {
      const auto at = static_cast<std::size_t>(o);
      y.set(image * p.outs + o, count[at] == 0 ? 0 : sums[at] / count[at]);
    }
  }
  e.result(std::move(y));
}

}  // namespace

extern const OpRow op_average_pool;
constexpr OpRow op_average_pool = checked({
    .name = "average_pool",
    .doc = "The mean of the elements under each window; padding and gaps do not count. Data (batch, channels, spatial ...), of one to "
           "three spatial dimensions; "
           "strides and dilations are 1 where they are not given. Windows at the end that hang over count with `ceil_mode`.",
    .signature = "average_pool(t: Tensor, kernel_size: Tuple[int], stride: Optional[Tuple[int]]=None, padding: Optional[Tuple[int]]=None, "
                 "out_pads: Optional[Tuple[int]]=None, dilation: Optional[Tuple[int]]=None, in_dilations: Optional[Tuple[int]]=None, "
                 "auto_pad: Optional[PadType]='not_set', ceil_mode: bool=False) -> Tensor",
    .module = "pool",
    .operands = {{{"t", any_floating}}},
    .attributes = {{{"kernel_size", AttributeKind::ints},
                    {"stride", AttributeKind::ints, false},
                    {"padding", AttributeKind::ints, false},
                    {"out_pads", AttributeKind::ints, false},
                    {"dilation", AttributeKind::ints, false},
                    {"in_dilations", AttributeKind::ints, false},
                    {"auto_pad", AttributeKind::text, false},
                    {"ceil_mode", AttributeKind::flag, false}}},
    .infer = [](Inference& in) { in.result(in.dtype(0), pooled_shape(in, in.shape(0))); },
    .reference = average,
    .differentiable = Differentiable::by_gradient,
    .gradient =
        [](Gradient& g) {
          Attributes a = g.attributes();
          a.set("shape", Ints(g.operand_type(0).shape));
          g.give(0, g.op("average_pool_grad", {g.grad()}, a));
        },
    .samples = pooling_samples,
    .popart_type = "AveragePool",
    .subscripts = leading_two_subscripts,
});

}  // namespace pando::ir
