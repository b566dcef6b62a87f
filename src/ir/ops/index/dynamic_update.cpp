#include "ir/meaning/dynamic.h"
#include "ir/meaning/elements.h"
#include "ir/rows/define.h"

namespace pando::ir {

extern const OpRow op_dynamic_update;
constexpr OpRow op_dynamic_update = checked({
    .name = "dynamic_update",
    .doc = "t with the elements of a slice (see dynamic_slice) replaced by t_update, which has the slice's shape.",
    .signature = "dynamic_update(t: Tensor, index: Tensor, t_update: Tensor, axes: Iterable[int], sizes: Iterable[int], no_overlap: bool) "
                 "-> Tensor",
    .operands = {{{"t"}, {"index", any_integer}, {"t_update"}}},
    .attributes = {{{"axes", AttributeKind::ints}, {"sizes", AttributeKind::ints}, {"no_overlap", AttributeKind::flag, false}}},
    .infer = [](Inference& in) {
      const Shape shape = dynamic_slice_shape(in);
      if (in.shape(2) != shape || in.dtype(2) != in.dtype(0)) in.reject("slice-piece", "the slice has the shape {}; t_update does not fit",
                                                                        to_string(shape));
      same_as_first(in);
    },
    .reference = [](Evaluation& e) {
      HostTensor out = e.operand(0);
      const HostTensor& piece = e.operand(2);
      const std::size_t size = size_of(out.dtype());
      std::byte* to = out.writable();
      for (std::int64_t i = 0; i < piece.elements(); ++i) {
        const auto at = static_cast<std::size_t>(dynamic_source(out.shape(), piece.shape(), e.operand(1), e.attributes(), i));
        std::copy_n(piece.data() + static_cast<std::size_t>(i) * size, size, to + at * size);
      }
      e.result(std::move(out));
    },
    .differentiable = Differentiable::by_gradient,
    .gradient = [](Gradient& g) {
      if (g.wants(0)) g.give(0, g.op("dynamic_update", {g.grad(), g.operand(1), zeros_like(g, g.operand_type(2))}, g.attributes()));
      if (g.wants(2)) g.give(2, g.op("dynamic_slice", {g.grad(), g.operand(1)}, g.attributes()));
    },
    .cost = movement_cost,
    .samples = [] {
      std::vector<Sample> all = dynamic_slice_samples();
      for (Sample& s : all) {
        Sample::Operand piece = s.operands[0];
        for (std::size_t i = 0; i < s.attributes.ints("axes").size(); ++i) {
          piece.shape[static_cast<std::size_t>(s.attributes.ints("axes")[i])] = s.attributes.ints("sizes")[i];
        }
        s.operands.push_back(piece);
      }
      return all;
    },
    .has_in_place = true,
    .popart_type = "DynamicUpdate",
    .popart_in_place_type = "DynamicUpdateInplace",
    .subscripts = indexed_subscripts,
    .indexed = Indexed::replaces,
    .replaces_part = true,
});

}  // namespace pando::ir
