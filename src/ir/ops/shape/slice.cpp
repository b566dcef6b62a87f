#include "ir/meaning/elements.h"
#include "ir/meaning/slices.h"
#include "ir/rows/define.h"

namespace pando::ir {

extern const OpRow op_slice;
constexpr OpRow op_slice = checked({
    .name = "slice",
    .doc = "Elements start to stop (exclusive) of the given axes, with steps of 1 or -1. Negative positions count from the end; what "
           "lies beyond it is clipped, as in Python.",
    .signature = "slice(t: Tensor, start: Optional[Union[int, List[Optional[int]]]] = None, stop: Optional[Union[int, "
                 "List[Optional[int]]]] = None, "
                 "step: Optional[Union[int, List[Optional[int]]]] = None, axis: Optional[Union[int, List[int]]] = None) -> Tensor",
    .operands = {{{"t"}}},
    .attributes = {{{"start", AttributeKind::ints}, {"stop", AttributeKind::ints}, {"step", AttributeKind::ints},
                    {"axis", AttributeKind::ints}}},
    .infer = [](Inference& in) {
      check_slice(in);
      in.result(in.dtype(0), sliced_shape(slice_ranges(in.shape(0), in.attributes())));
    },
    .reference = [](Evaluation& e) {
      HostTensor out = e.fresh();
      const HostTensor& x = e.operand(0);
      const std::vector<SliceRange> ranges = slice_ranges(x.shape(), e.attributes());
      move_elements(out, x, [&](std::int64_t i) { return slice_source(x.shape(), ranges, i); });
      e.result(std::move(out));
    },
    .differentiable = Differentiable::by_gradient,
    .gradient = [](Gradient& g) { g.give(0, g.op("slice_assign", {zeros_like(g, g.operand_type(0)), g.grad()}, g.attributes())); },
    .cost = movement_cost,
    .samples = slice_samples,
    .view = View::of_first_operand,
    .put = [](Expansion& x) { x.result(x.op("slice_assign", {x.operand(0), x.operand(1)}, x.attributes())); },
    .has_in_place = true,
    .popart_type = "Slice",
    .popart_in_place_type = "SliceInplace",
    .subscripts = pieces_subscripts,
    .view_form = ViewForm::box,
});

}  // namespace pando::ir
