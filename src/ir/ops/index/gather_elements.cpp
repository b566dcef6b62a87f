#include "ir/meaning/elements.h"
#include "ir/meaning/scatters.h"
#include "ir/rows/define.h"

namespace pando::ir {

namespace {

// Where there are fewer indices than elements, the sum goes to the first part of the other dimensions.
void gather_elements_gradient(Gradient& g) {
  const Shape &shape = g.operand_type(0).shape, &indices = g.operand_type(1).shape;
  const std::int64_t axis = g.attributes().integer("axis"), extent = shape[static_cast<std::size_t>(axis)];
  ValueId d = g.op("scatter_reduce", {g.grad(), g.operand(1)}, {{"reduction", std::string("sum")}, {"axis", axis}, {"axis_size", extent}});
  Ints start, stop, step, axes;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (static_cast<std::int64_t>(i) == axis || indices[i] == shape[i]) continue;
    start.push_back(0);
    stop.push_back(indices[i]);
    step.push_back(1);
    axes.push_back(static_cast<std::int64_t>(i));
  }
  if (!axes.empty()) d = g.op("slice_assign", {zeros_like(g, g.operand_type(0)), d},
                              {{"start", start}, {"stop", stop}, {"step", step}, {"axis", axes}});
  g.give(0, d);
}

}  // namespace

extern const OpRow op_gather_elements;
constexpr OpRow op_gather_elements = checked({
    .name = "gather_elements",
    .doc = "For each index the element of t at the index' position, with the index in place of the coordinate along the axis; 0 "
           "where it lies outside.",
    .operands = {{{"t"}, {"indices", any_integer}}},
    .attributes = {{{"axis", AttributeKind::integer}}},
    .infer = [](Inference& in) {
      const auto axis = static_cast<std::size_t>(axis_of(in));
      if (in.operand(1).rank() != in.operand(0).rank()) in.reject("gather-shapes", "indices of rank {} for rank {}", in.operand(1).rank(),
                                                                  in.operand(0).rank());
      for (std::size_t d = 0; d < in.shape(0).size(); ++d) {
        if (d != axis && in.shape(1)[d] > in.shape(0)[d]) in.reject("gather-shapes", "more indices than elements in dimension {}", d);
      }
      in.result(in.dtype(0), in.shape(1));
    },
    .reference = [](Evaluation& e) {
      HostTensor out = e.fresh();
      const Shape& shape = out.shape();
      const std::vector<std::int64_t> sources = scatter_targets(shape, e.operand(1), shape, e.attributes().integer("axis"),
                                                                e.operand(0).shape());
      move_elements(out, e.operand(0), [&](std::int64_t i) { return sources[static_cast<std::size_t>(i)]; });
      e.result(std::move(out));
    },
    .differentiable = Differentiable::by_gradient,
    .gradient = gather_elements_gradient,
    .cost = movement_cost,
    .samples = [] {
      Sample s;
      s.operands = {{DType::float32, {3, 4}, -2, 2, {}}, {DType::int32, {3, 2}, 0, 0, {1, 1, 0, 3, 2, 0}}};
      s.attributes = {{"axis", std::int64_t{1}}};
      std::vector<Sample> all{s};
      s.operands = {{DType::float16, {3, 4}, -2, 2, {}}, {DType::int32, {5, 3}, 0, 0, {1, 1, 0, 2, 2, 0, 0, 9, -1, 0, 0, 0, 1, 2, 1}}};
      s.attributes = {{"axis", std::int64_t{0}}};
      all.push_back(s);
      return all;
    },
    .subscripts = element_index_subscripts,
});

}  // namespace pando::ir
