#include "ir/meaning/elements.h"
#include "ir/rows/define.h"

namespace pando::ir {

extern const OpRow op_flatten;
constexpr OpRow op_flatten = checked({
    .name = "flatten",
    .doc = "All elements, in row-major order, with one dimension.",
    .signature = "flatten(t: Tensor) -> Tensor",
    .module = "reshape",
    .operands = {{{"t"}}},
    .infer = [](Inference& in) { in.result(in.dtype(0), {elements_of(in.shape(0))}); },
    .reference = [](Evaluation& e) { e.result(e.operand(0).reshaped(e.result_type().shape)); },
    .differentiable = Differentiable::by_gradient,
    .gradient = [](Gradient& g) { g.give(0, g.op("reshape", {g.grad()}, {{"shape", Ints(g.operand_type(0).shape)}})); },
    .expand = [](Expansion& x) { x.result(x.op("reshape", {x.operand(0)}, {{"shape", Ints(x.result_type().shape)}})); },
    .cost = no_cost,
    .samples = unary_samples,
    .view = View::of_first_operand,
    .put = [](Expansion& x) { x.result(x.op("reshape", {x.operand(1)}, {{"shape", Ints(x.type_of(x.operand(0)).shape)}})); },
    .has_in_place = true,
    .popart_type = "Reshape",
    .popart_in_place_type = "ReshapeInplace",
    .subscripts = reshape_subscripts,
    .view_form = ViewForm::reshaped,
});

}  // namespace pando::ir
