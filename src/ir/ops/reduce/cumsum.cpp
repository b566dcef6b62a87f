#include "ir/meaning/elements.h"
#include "ir/meaning/reduction.h"
#include "ir/rows/define.h"

namespace pando::ir {

extern const OpRow op_cumsum;
constexpr OpRow op_cumsum = checked({
    .name = "cumsum",
    .doc = "The sum of the elements up to and with each one, along dim.",
    .signature = "cumsum(t: Tensor, dim: int = 0) -> Tensor",
    .operands = {{{"t", any_floating}}},
    .attributes = {{{"dim", AttributeKind::integer}}},
    .infer = [](Inference& in) {
      axis_of(in, "dim");
      same_as_first(in);
    },
    .reference = [](Evaluation& e) {
      const HostTensor& x = e.operand(0);
      HostTensor out = e.fresh();
      const AxisView view(x.shape(), e.attributes().integer("dim"));
      for (std::int64_t o = 0; o < view.outer; ++o) {
        for (std::int64_t i = 0; i < view.inner; ++i) {
          double sum = 0;
          for (std::int64_t a = 0; a < view.extent; ++a) out.set(view.position(o, a, i), sum += x.number(view.position(o, a, i)));
        }
      }
      e.result(std::move(out));
    },
    .differentiable = Differentiable::by_gradient,
    .gradient = [](Gradient& g) {
      const std::int64_t dim = g.attributes().integer("dim"), extent = g.operand_type(0).shape[static_cast<std::size_t>(dim)];
      const Attributes flip{{"start", Ints{extent - 1}}, {"stop", Ints{-extent - 1}}, {"step", Ints{-1}}, {"axis", Ints{dim}}};
      g.give(0, g.op("slice", {g.op("cumsum", {g.op("slice", {g.grad()}, flip)}, g.attributes())}, flip));
    },
    .cost = reduction_cost,
    .samples = [] {
      std::vector<Sample> all;
      for (DType t : {DType::float32, DType::float16}) {
        for (std::int64_t dim : {0, 1, 2}) {
          Sample s;
          s.operands = {{t, {3, 4, 2}, -2, 2, {}}};
          s.attributes = {{"dim", dim}};
          all.push_back(s);
        }
      }
      return all;
    },
    .popart_type = "CumSum",
    .subscripts = along_axis_subscripts,
});

}  // namespace pando::ir
