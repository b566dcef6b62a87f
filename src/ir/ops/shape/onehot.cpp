#include "ir/meaning/elements.h"
#include "ir/meaning/formula.h"
#include "ir/rows/define.h"

#include <numeric>

namespace pando::ir {

extern const OpRow op_onehot;
constexpr OpRow op_onehot = checked({
    .name = "onehot",
    .doc = "A new axis of num_classes elements: values[1] where the class is the index, values[0] elsewhere and for indices that are "
           "no class.",
    .signature = "onehot(t: Tensor, num_classes: Tensor, values: Tensor, axis: int) -> Tensor",
    .operands = {{{"t", any_integer}, {"values"}}},
    .attributes = {{{"num_classes", AttributeKind::integer}, {"axis", AttributeKind::integer}}},
    .infer = [](Inference& in) {
      const std::int64_t n = in.attributes().integer("num_classes"), axis = in.attributes().integer("axis");
      if (n < 1) in.reject("onehot-classes", "{} classes", n);
      if (axis < 0 || axis > in.operand(0).rank()) in.reject("axis-range", "axis {} is out of range for rank {}", axis,
                                                             in.operand(0).rank() + 1);
      if (in.shape(1) != Shape{2}) in.reject("onehot-values", "values of shape {}; there are two, off and on", to_string(in.shape(1)));
      Shape shape = in.shape(0);
      shape.insert(shape.begin() + axis, n);
      in.result(in.dtype(1), shape);
    },
    .reference = [](Evaluation& e) {
      HostTensor out = e.fresh();
      const HostTensor& t = e.operand(0);
      const AxisView view(out.shape(), e.attributes().integer("axis"));
      move_elements(out, e.operand(1), [&](std::int64_t i) {
        const std::int64_t inner = i % view.inner, at = i / view.inner % view.extent, outer = i / view.inner / view.extent;
        return std::int64_t{t.integer(outer * view.inner + inner) == at};
      });
      e.result(std::move(out));
    },
    .differentiable = Differentiable::by_gradient,
    .gradient = [](Gradient& g) {
      if (!g.wants(1)) return;
      const DType dtype = g.operand_type(1).dtype;
      const Attributes one{{"shape", Ints{1}}};
      const ValueId off = g.op("reshape", {g.scalar(dtype, 0)}, one), on = g.op("reshape", {g.scalar(dtype, 1)}, one);
      const auto mask = formula(g, g.op("onehot", {g.operand(0), g.op("concat", {off, on}, {{"axis", std::int64_t{0}}})}, g.attributes()));
      Ints axes(g.result_type().shape.size());
      std::iota(axes.begin(), axes.end(), 0);
      const auto total = [&](const auto& v) { return g.op("reshape", {v.op("sum", {{"axis", axes}, {"keepdims", false}})}, one); };
      const auto dy = formula(g, g.grad());
      g.give(1, g.op("concat", {total(dy * (1.0 - mask)), total(dy * mask)}, {{"axis", std::int64_t{0}}}));
    },
    .cost = movement_cost,
    .samples = [] {
      std::vector<Sample> all;
      for (std::int64_t axis : {0, 1, 2}) {
        Sample s;
        s.operands = {{DType::int32, {2, 3}, 0, 0, {0, 3, 1, 2, 7, -1}}, {DType::float32, {2}, -2, 2, {}}};
        s.attributes = {{"num_classes", std::int64_t{4}}, {"axis", axis}};
        all.push_back(s);
      }
      return all;
    },
    .popart_type = "OneHot",
    .subscripts = [](const SubscriptsOf& o) {
      Subscripts s = o.blank();
      const auto axis = static_cast<std::size_t>(o.attributes().integer("axis"));
      for (std::size_t d = 0; d < o.operand(0).size(); ++d) {
        put(s.operands[0], d, d);
        put(s.results[0], d < axis ? d : d + 1, d);
      }
      return s;
    },
});

}  // namespace pando::ir
