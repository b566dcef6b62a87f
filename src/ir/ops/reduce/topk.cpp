#include "ir/meaning/elements.h"
#include "ir/meaning/reduction.h"
#include "ir/rows/define.h"

#include <algorithm>
#include <numeric>

namespace pando::ir {

extern const OpRow op_topk;
constexpr OpRow op_topk = checked({
    .name = "topk",
    .doc = "The k largest (or least) elements along an axis and where they lie, as int32. Of equal elements the first counts as the "
           "more extreme. Sorted results begin with the most extreme; others come in no particular order.",
    .signature = "topk(t: Tensor, k: int, axis: int, largest: bool, sorted: bool, available_memory_proportion: Optional[float] = None) -> "
                 "Tuple[Tensor, Tensor]",
    .operands = {{{"t", any_numeric}}},
    .attributes = {{{"k", AttributeKind::integer},
                    {"axis", AttributeKind::integer},
                    {"largest", AttributeKind::flag},
                    {"sorted", AttributeKind::flag},
                    {"available_memory_proportion", AttributeKind::number, false}}},
    .infer = [](Inference& in) {
      const auto axis = static_cast<std::size_t>(axis_of(in));
      const std::int64_t k = in.attributes().integer("k");
      Shape shape = in.shape(0);
      if (k < 1 || k > shape[axis]) in.reject("topk-k", "k is {}; axis {} has {} elements", k, axis, shape[axis]);
      shape[axis] = k;
      in.result(in.dtype(0), shape);
      in.result(DType::int32, shape);
    },
    .reference = [](Evaluation& e) {
      const HostTensor& x = e.operand(0);
      HostTensor values = e.fresh(0), positions = e.fresh(1);
      const AxisView from(x.shape(), e.attributes().integer("axis")), to(values.shape(), e.attributes().integer("axis"));
      const bool largest = e.attributes().flag("largest");
      for (std::int64_t o = 0; o < from.outer; ++o) {
        for (std::int64_t i = 0; i < from.inner; ++i) {
          std::vector<std::int64_t> order(static_cast<std::size_t>(from.extent));
          std::iota(order.begin(), order.end(), 0);
          const auto value = [&](std::int64_t a) { return x.number(from.position(o, a, i)); };
          std::stable_sort(order.begin(), order.end(),
                           [&](std::int64_t a, std::int64_t b) { return stands_before(value(a), value(b), largest); });
          for (std::int64_t k = 0; k < to.extent; ++k) {
            values.set(to.position(o, k, i), value(order[static_cast<std::size_t>(k)]));
            positions.set_integer(to.position(o, k, i), order[static_cast<std::size_t>(k)]);
          }
        }
      }
      e.result(std::move(values));
      e.result(std::move(positions));
    },
    .differentiable = Differentiable::by_gradient,
    .gradient = [](Gradient& g) {
      const ValueId zeros = zeros_like(g, g.operand_type(0));
      g.give(0, g.op("scatter", {zeros, g.result(1), g.grad()}, {{"axis", g.attributes().integer("axis")}}));
    },
    .cost = reduction_cost,
    .samples = [] {
      std::vector<Sample> all;
      for (bool largest : {true, false}) {
        for (std::int64_t axis : {0, 1}) {
          Sample s;
          s.operands = {{DType::float32, {3, 5}, 0, 0, {0.5, -1, 2, 0.25, 1, -3, 4, 1.5, 0.75, -0.5, 3, -2, 2.5, 0, -4}}};
          s.attributes = {{"k", std::int64_t{2}}, {"axis", axis}, {"largest", largest}, {"sorted", true}};
          all.push_back(s);
        }
      }
      Sample ties = all[0];
      ties.operands = {{DType::int32, {7}, 0, 0, {2, 5, 1, 5, 2, 5, 0}}};
      ties.attributes.set("k", std::int64_t{4});
      ties.attributes.set("axis", std::int64_t{0});
      all.push_back(ties);
      return all;
    },
    .popart_type = "TopK",
    .subscripts = along_axis_subscripts,
});

}  // namespace pando::ir
