#include "ir/meaning/elements.h"
#include "ir/rows/define.h"

namespace pando::ir {

namespace {

Ints inverse(const Attributes& attributes) {
  const Ints& order = attributes.ints("permutation");
  Ints back(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) back[static_cast<std::size_t>(order[i])] = static_cast<std::int64_t>(i);
  return back;
}

}  // namespace

extern const OpRow op_transpose;
constexpr OpRow op_transpose = checked({
    .name = "transpose",
    .doc = "The dimensions in another order: dimension i of the result is dimension permutation[i] of t.",
    .signature = "transpose(t: Tensor, permutation: Optional[Tuple[int, ...]] = None) -> Tensor",
    .operands = {{{"t"}}},
    .attributes = {{{"permutation", AttributeKind::ints}}},
    .infer = [](Inference& in) {
      const Ints& order = in.attributes().ints("permutation");
      if (static_cast<std::int64_t>(order.size()) != in.operand(0).rank()) {
        in.reject("permutation-length", "the permutation {} has {} entries for rank {}", to_string(order), order.size(),
                  in.operand(0).rank());
      }
      Shape shape;
      for (std::int64_t d : axes_of(in, "permutation")) shape.push_back(in.shape(0)[static_cast<std::size_t>(d)]);
      in.result(in.dtype(0), shape);
    },
    .reference = [](Evaluation& e) {
      HostTensor out = e.fresh();
      const HostTensor& x = e.operand(0);
      const Ints& order = e.attributes().ints("permutation");
      const Shape strides = strides_of(x.shape());
      move_elements(out, x, [&](std::int64_t i) {
        const Shape at = coordinates_of(out.shape(), i);
        std::int64_t from = 0;
        for (std::size_t d = 0; d < at.size(); ++d) from += at[d] * strides[static_cast<std::size_t>(order[d])];
        return from;
      });
      e.result(std::move(out));
    },
    .differentiable = Differentiable::by_gradient,
    .gradient = [](Gradient& g) { g.give(0, g.op("transpose", {g.grad()}, {{"permutation", inverse(g.attributes())}})); },
    .cost = movement_cost,
    .samples = [] {
      std::vector<Sample> all;
      for (const auto& [shape, order] : {std::pair<Shape, Ints>{{2, 3}, {1, 0}}, {{2, 3, 4}, {1, 2, 0}}, {{2, 3, 4}, {0, 2, 1}}, {{5}, {0}},
                                         {{}, {}}}) {
        Sample s;
        s.operands = {{DType::float32, shape, -2, 2, {}}};
        s.attributes = {{"permutation", order}};
        all.push_back(s);
      }
      return all;
    },
    .view = View::of_first_operand,
    .put = [](Expansion& x) { x.result(x.op("transpose", {x.operand(1)}, {{"permutation", inverse(x.attributes())}})); },
    .has_in_place = true,
    .popart_type = "Transpose",
    .popart_in_place_type = "TransposeInplace",
    .subscripts = [](const SubscriptsOf& o) {
      Subscripts s = o.blank();
      s.sums = Subscripts::Sums::every;
      const Ints& order = o.attributes().ints("permutation");
      for (std::size_t d = 0; d < order.size(); ++d) {
        put(s.operands[0], static_cast<std::size_t>(order[d]), d);
        put(s.results[0], d, d);
      }
      return s;
    },
    .view_form = ViewForm::permuted,
});

}  // namespace pando::ir
