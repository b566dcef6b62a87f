#include "ir/meaning/elements.h"
#include "ir/meaning/slices.h"
#include "ir/rows/define.h"

namespace pando::ir {

extern const OpRow op_slice_assign;
constexpr OpRow op_slice_assign = checked({
    .name = "slice_assign",
    .doc = "The base with the elements of a slice (see slice) replaced by a piece of the slice's shape.",
    .operands = {{{"base"}, {"piece"}}},
    .attributes = {{{"start", AttributeKind::ints}, {"stop", AttributeKind::ints}, {"step", AttributeKind::ints},
                    {"axis", AttributeKind::ints}}},
    .infer = [](Inference& in) {
      check_slice(in);
      const Shape shape = sliced_shape(slice_ranges(in.shape(0), in.attributes()));
      if (in.shape(1) != shape || in.dtype(1) != in.dtype(0)) in.reject("slice-piece", "the slice has the shape {}; the piece does not fit",
                                                                        to_string(shape));
      same_as_first(in);
    },
    .reference = [](Evaluation& e) {
      HostTensor out = e.operand(0);
      const HostTensor& piece = e.operand(1);
      const std::vector<SliceRange> ranges = slice_ranges(out.shape(), e.attributes());
      const std::size_t size = size_of(out.dtype());
      std::byte* to = out.writable();
      for (std::int64_t i = 0; i < piece.elements(); ++i) {
        const auto at = static_cast<std::size_t>(slice_source(out.shape(), ranges, i));
        std::copy_n(piece.data() + static_cast<std::size_t>(i) * size, size, to + at * size);
      }
      e.result(std::move(out));
    },
    .differentiable = Differentiable::by_gradient,
    .gradient = [](Gradient& g) {
      if (g.wants(0)) g.give(0, g.op("slice_assign", {g.grad(), zeros_like(g, g.operand_type(1))}, g.attributes()));
      if (g.wants(1)) g.give(1, g.op("slice", {g.grad()}, g.attributes()));
    },
    .cost = movement_cost,
    .samples = [] {
      std::vector<Sample> all = slice_samples();
      for (Sample& s : all) {
        Sample::Operand piece = s.operands[0];
        piece.shape = sliced_shape(slice_ranges(piece.shape, s.attributes));
        s.operands.push_back(piece);
      }
      return all;
    },
    .has_in_place = true,
    .subscripts = [](const SubscriptsOf& o) {
      Subscripts s = o.blank();
      s.sums = Subscripts::Sums::every;
      for (std::size_t d = 0; d < o.operand(0).size(); ++d) {
        for (auto* list : {&s.operands[0], &s.operands[1], &s.results[0]}) put(*list, d, d);
      }
      for (std::int64_t axis : o.attributes().ints("axis")) s.blocked |= std::uint64_t{1} << axis;
      return s;
    },
    .replaces_part = true,
});

}  // namespace pando::ir
