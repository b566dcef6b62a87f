#include "ir/shared/reduction_kind.h"

namespace pando::ir {

extern const OpRow op_replicated_slice;
constexpr OpRow op_replicated_slice = checked({
    .name = "replicated_slice",
    .doc = "Replica i of a group gets equal part i of its tensor along `axis`, which the group's size divides. Where a part "
           "has one element along the axis, the axis goes.",
    .signature = "replicated_slice(t: Tensor, axis: int=0, group: Optional[ReplicaGrouping]=None) -> Tensor",
    .module = "collectives.replicated_reduce_scatter",
    .operands = {{{"t"}}},
    .attributes = {{{"axis", AttributeKind::integer},
                    {"stride", AttributeKind::integer, false},
                    {"group_size", AttributeKind::integer, false}}},
    .infer =
        [](Inference& in) {
          const std::int64_t axis = in.attributes().integer("axis"), parts = group_size_of(in);
          if (axis < 0 || axis >= in.operand(0).rank())
            in.reject("axis-range", "axis {} is out of range for rank {}", axis, in.operand(0).rank());
          Shape shape = in.shape(0);
          std::int64_t& extent = shape[static_cast<std::size_t>(axis)];
          if (extent % parts != 0) in.reject("slice-parts", "{} elements along axis {} do not divide into {} parts", extent, axis, parts);
          extent /= parts;
          if (parts > 1 && extent == 1) shape.erase(shape.begin() + axis);
          in.result(in.dtype(0), shape);
        },
    .reference_group =
        [](GroupEvaluation& e) {
          const auto axis = static_cast<std::size_t>(e.attributes().integer("axis"));
          for (std::size_t r = 0; r < e.replicas(); ++r) {
            const HostTensor& t = e.operand(r, 0);
            HostTensor out = e.fresh();
            // Rows of the axis and what follows; each gives one piece.
            std::int64_t outer = 1;
            for (std::size_t d = 0; d < axis; ++d) outer *= t.shape()[d];
            const std::size_t row = t.size_bytes() / static_cast<std::size_t>(std::max<std::int64_t>(1, outer));
            const std::size_t piece = out.size_bytes() / static_cast<std::size_t>(std::max<std::int64_t>(1, outer));
            std::byte* to = out.writable();
            for (std::int64_t o = 0; o < outer; ++o) {
              std::copy_n(t.data() + static_cast<std::size_t>(o) * row + static_cast<std::size_t>(e.member(r)) * piece, piece,
                          to + static_cast<std::size_t>(o) * piece);
            }
            e.result(r, std::move(out));
          }
        },
    .differentiable = Differentiable::by_gradient,
    .gradient =
        [](Gradient& g) {
          Attributes a = g.attributes();
          a.set("output_shape", std::string("concat"));
          Shape part = g.operand_type(0).shape;
          const std::int64_t parts = elements_of(part) / std::max<std::int64_t>(1, elements_of(g.result_type(0).shape));
          part[static_cast<std::size_t>(a.integer("axis"))] /= parts;
          g.give(0, g.op("replicated_all_gather", {g.op("reshape", {g.grad()}, {{"shape", Ints(part)}})}, a));
        },
    .in_program_only = true,
    .popart_type = "ReplicatedReduceScatter",
    .whole = "replicas meet in it, and a program with replicas is not distributed further",
    .replica_part = ReplicaPart::along_axis,
});

}  // namespace pando::ir
