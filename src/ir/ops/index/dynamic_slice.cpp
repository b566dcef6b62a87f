#include "ir/meaning/dynamic.h"
#include "ir/meaning/elements.h"
#include "ir/rows/define.h"

namespace pando::ir {

extern const OpRow op_dynamic_slice;
constexpr OpRow op_dynamic_slice = checked({
    .name = "dynamic_slice",
    .doc = "A slice that begins where index says: sizes[i] elements of axis axes[i] from index[i] on. Positions wrap around at the "
           "end of an axis. no_overlap promises that slices which are taken one after the other do not overlap.",
    .signature = "dynamic_slice(t: Tensor, index: Tensor, axes: List[int], sizes: List[int], no_overlap: bool) -> Tensor",
    .operands = {{{"t"}, {"index", any_integer}}},
    .attributes = {{{"axes", AttributeKind::ints}, {"sizes", AttributeKind::ints}, {"no_overlap", AttributeKind::flag, false}}},
    .infer = [](Inference& in) { in.result(in.dtype(0), dynamic_slice_shape(in)); },
    .reference = [](Evaluation& e) {
      HostTensor out = e.fresh();
      const HostTensor& t = e.operand(0);
      move_elements(out, t, [&](std::int64_t i) { return dynamic_source(t.shape(), out.shape(), e.operand(1), e.attributes(), i); });
      e.result(std::move(out));
    },
    .differentiable = Differentiable::by_gradient,
    .gradient = [](Gradient& g) {
      g.give(0, g.op("dynamic_update", {zeros_like(g, g.operand_type(0)), g.operand(1), g.grad()}, g.attributes()));
    },
    .cost = movement_cost,
    .samples = dynamic_slice_samples,
    .popart_type = "DynamicSlice",
    .subscripts = indexed_subscripts,
    .indexed = Indexed::reads,
});

}  // namespace pando::ir
