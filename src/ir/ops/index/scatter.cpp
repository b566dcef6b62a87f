#include "ir/meaning/elements.h"
#include "ir/meaning/scatters.h"
#include "ir/rows/define.h"

#include <algorithm>

namespace pando::ir {

extern const OpRow op_scatter;
constexpr OpRow op_scatter = checked({
    .name = "scatter",
    .doc = "A copy of t in which values replace elements: the value at some position goes to that position, with its index in place "
           "of the coordinate along the axis. Of several the last counts; indices outside are left out.",
    .signature = "scatter(t: Tensor, indices: Tensor, values: Tensor, axis: int = 0, available_memory_proportion: Optional[float] = None) "
                 "-> Tensor",
    .operands = {{{"t"}, {"indices", any_integer}, {"values"}}},
    .attributes = {{{"axis", AttributeKind::integer}, {"available_memory_proportion", AttributeKind::number, false}}},
    .infer = [](Inference& in) {
      const auto axis = static_cast<std::size_t>(axis_of(in));
      if (in.dtype(2) != in.dtype(0)) in.reject("different-types", "values of {} for a tensor of {}", name_of(in.dtype(2)),
                                                name_of(in.dtype(0)));
      if (in.shape(1) != in.shape(2)) in.reject("scatter-shapes", "indices of shape {} for values of {}", to_string(in.shape(1)),
                                                to_string(in.shape(2)));
      if (in.operand(1).rank() != in.operand(0).rank()) in.reject("scatter-shapes", "indices of rank {} for rank {}", in.operand(1).rank(),
                                                                  in.operand(0).rank());
      for (std::size_t d = 0; d < in.shape(0).size(); ++d) {
        if (d != axis && in.shape(1)[d] > in.shape(0)[d]) in.reject("scatter-shapes", "more indices than elements in dimension {}", d);
      }
      same_as_first(in);
    },
    .reference = [](Evaluation& e) {
      HostTensor out = e.operand(0);
      const HostTensor& values = e.operand(2);
      const Shape& shape = values.shape();
      const std::vector<std::int64_t> targets = scatter_targets(shape, e.operand(1), shape, e.attributes().integer("axis"), out.shape());
      const std::size_t size = size_of(out.dtype());
      std::byte* to = out.writable();
      for (std::size_t i = 0; i < targets.size(); ++i) {
        if (targets[i] >= 0) std::copy_n(values.data() + i * size, size, to + static_cast<std::size_t>(targets[i]) * size);
      }
      e.result(std::move(out));
    },
    .differentiable = Differentiable::by_gradient,
    .gradient = [](Gradient& g) {
      if (g.wants(0)) g.give(0, g.op("scatter", {g.grad(), g.operand(1), zeros_like(g, g.operand_type(2))}, g.attributes()));
      if (g.wants(2)) g.give(2, g.op("gather_elements", {g.grad(), g.operand(1)}, {{"axis", g.attributes().integer("axis")}}));
    },
    .cost = movement_cost,
    .samples = [] {
      Sample s;
      s.operands = {{DType::float32, {3, 3}, -2, 2, {}}, {DType::int32, {2, 3}, 0, 0, {1, 0, 2, 0, 2, 1}},
                    {DType::float32, {2, 3}, -2, 2, {}}};
      s.attributes = {{"axis", std::int64_t{0}}};
      std::vector<Sample> all{s};
      s.operands = {{DType::float16, {3, 5}, -2, 2, {}}, {DType::int32, {3, 2}, 0, 0, {1, 4, 0, 2, 3, 1}},
                    {DType::float16, {3, 2}, -2, 2, {}}};
      s.attributes = {{"axis", std::int64_t{1}}};
      all.push_back(s);
      return all;
    },
    .popart_type = "Scatter",
    .subscripts = element_index_subscripts,
    .replaces_part = true,
});

}  // namespace pando::ir
