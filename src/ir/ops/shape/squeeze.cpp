#include "ir/meaning/elements.h"
#include "ir/meaning/reduction.h"
#include "ir/rows/define.h"

namespace pando::ir {

extern const OpRow op_squeeze;
constexpr OpRow op_squeeze = checked({
    .name = "squeeze",
    .doc = "Without the given axes, which must have length 1.",
    .signature = "squeeze(t: Tensor, axes: Optional[List[int]] = None) -> Tensor",
    .operands = {{{"t"}}},
    .attributes = {{{"axes", AttributeKind::ints}}},
    .infer = [](Inference& in) {
      const Ints axes = axes_of(in, "axes");
      for (std::int64_t a : axes) {
        const std::int64_t extent = in.shape(0)[static_cast<std::size_t>(a)];
        if (extent != 1) in.reject("squeeze-extent", "axis {} has {} elements, not one", a, extent);
      }
      in.result(in.dtype(0), reduced_shape(in.shape(0), axes, false));
    },
    .reference = [](Evaluation& e) { e.result(e.operand(0).reshaped(e.result_type().shape)); },
    .differentiable = Differentiable::by_gradient,
    .gradient = [](Gradient& g) { g.give(0, g.op("reshape", {g.grad()}, {{"shape", Ints(g.operand_type(0).shape)}})); },
    .expand = [](Expansion& x) { x.result(x.op("reshape", {x.operand(0)}, {{"shape", Ints(x.result_type().shape)}})); },
    .cost = no_cost,
    .samples = [] {
      Sample s;
      s.operands = {{DType::float32, {1, 3, 1, 2}, -2, 2, {}}};
      s.attributes = {{"axes", Ints{0, 2}}};
      std::vector<Sample> all{s};
      s.attributes = {{"axes", Ints{2}}};
      all.push_back(s);
      return all;
    },
    .view = View::of_first_operand,
    .put = [](Expansion& x) { x.result(x.op("reshape", {x.operand(1)}, {{"shape", Ints(x.type_of(x.operand(0)).shape)}})); },
    .popart_type = "Reshape",
    .subscripts = reshape_subscripts,
    .view_form = ViewForm::reshaped,
});

}  // namespace pando::ir
