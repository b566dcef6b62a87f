#include "ir/meaning/elements.h"
#include "ir/rows/define.h"

namespace pando::ir {

namespace {

void infer_reshape(Inference& in) {
  const Ints& shape = in.attributes().ints("shape");
  for (std::int64_t d : shape) {
    if (d < 0) in.reject("reshape-shape", "Invalid shape value in reshape: {}", to_string(shape));
  }
  if (elements_of(shape) != elements_of(in.shape(0))) {
    in.reject("reshape-elements", "{} elements do not fit into the shape {}", elements_of(in.shape(0)), to_string(shape));
  }
  in.result(in.dtype(0), shape);
}

}  // namespace

extern const OpRow op_reshape;
constexpr OpRow op_reshape = checked({
    .name = "reshape",
    .doc = "The same elements, in row-major order, with another shape of as many elements.",
    .signature = "reshape(t: Tensor, shape: Tuple[int, ...]) -> Tensor",
    .operands = {{{"t"}}},
    .attributes = {{{"shape", AttributeKind::ints}}},
    .infer = infer_reshape,
    .reference = [](Evaluation& e) { e.result(e.operand(0).reshaped(e.result_type().shape)); },
    .differentiable = Differentiable::by_gradient,
    .gradient = [](Gradient& g) { g.give(0, g.op("reshape", {g.grad()}, {{"shape", Ints(g.operand_type(0).shape)}})); },
    .cost = no_cost,
    .samples = [] {
      std::vector<Sample> all;
      for (const auto& [from, to] : {std::pair<Shape, Shape>{{2, 6}, {3, 4}}, {{4, 3, 2}, {24}}, {{1}, {}}, {{}, {1, 1}}}) {
        Sample s;
        s.operands = {{DType::float32, from, -2, 2, {}}};
        s.attributes = {{"shape", Ints(to)}};
        all.push_back(s);
      }
      return all;
    },
    .view = View::of_first_operand,
    .put = [](Expansion& x) { x.result(x.op("reshape", {x.operand(1)}, {{"shape", Ints(x.type_of(x.operand(0)).shape)}})); },
    .has_in_place = true,
    .popart_type = "Reshape",
    .popart_in_place_type = "ReshapeInplace",
    .subscripts = reshape_subscripts,
    .view_form = ViewForm::reshaped,
});

}  // namespace pando::ir
