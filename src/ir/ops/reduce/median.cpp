#include "ir/meaning/elements.h"
#include "ir/meaning/reduction.h"
#include "ir/rows/define.h"

#include <algorithm>
#include <numeric>

namespace pando::ir {

namespace {

// With the reduced axes last and as one, the gradient is scattered to the positions.
void median_gradient(Gradient& g) {
  const Shape& shape = g.operand_type(0).shape;
  const Ints& axes = g.attributes().ints("axis");
  Ints order, moved, flat;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (std::find(axes.begin(), axes.end(), static_cast<std::int64_t>(d)) == axes.end()) order.push_back(static_cast<std::int64_t>(d));
  }
  for (std::int64_t d : order) flat.push_back(shape[static_cast<std::size_t>(d)]);
  Ints sorted = axes;
  std::sort(sorted.begin(), sorted.end());
  order.insert(order.end(), sorted.begin(), sorted.end());
  for (std::int64_t d : order) moved.push_back(shape[static_cast<std::size_t>(d)]);
  Ints single = flat, back(order.size());
  single.push_back(1);
  flat.push_back(1);
  for (std::int64_t d : axes) flat.back() *= shape[static_cast<std::size_t>(d)];
  for (std::size_t i = 0; i < order.size(); ++i) back[static_cast<std::size_t>(order[i])] = static_cast<std::int64_t>(i);
  Type type = g.operand_type(0);
  type.shape = flat;
  const ValueId positions = g.op("reshape", {g.result(1)}, {{"shape", single}}), dy = g.op("reshape", {g.grad()}, {{"shape", single}});
  const ValueId spread = g.op("scatter", {zeros_like(g, type), positions, dy}, {{"axis", static_cast<std::int64_t>(flat.size()) - 1}});
  g.give(0, g.op("transpose", {g.op("reshape", {spread}, {{"shape", moved}})}, {{"permutation", back}}));
}

}  // namespace

extern const OpRow op_median;
constexpr OpRow op_median = checked({
    .name = "median",
    .doc = "The middle element along the axes, the lower one of two, where NaN counts as the largest; they stay with length 1 where "
           "keepdims says so. The second "
           "result is where it lies: its position among the elements that were reduced, in row-major order, the first of equal ones. "
           "The gradient goes there.",
    .signature = "median(t: Tensor, axis: Optional[Union[int, Iterable[int]]] = None, keepdims: bool = False) -> Tensor",
    .operands = {{{"t", any_numeric}}},
    .attributes = {{{"axis", AttributeKind::ints}, {"keepdims", AttributeKind::flag, false}}},
    .infer =
        [](Inference& in) {
          infer_choice(in);
          in.result(DType::int32, in.results()[0].shape);
        },
    .reference =
        [](Evaluation& e) {
          const HostTensor& x = e.operand(0);
          HostTensor values = e.fresh(0), positions = e.fresh(1);
          std::vector<std::vector<std::int64_t>> members(static_cast<std::size_t>(values.elements()));
          const std::vector<std::int64_t> groups = groups_of(x.shape(), e.attributes().ints("axis"));
          for (std::size_t i = 0; i < groups.size(); ++i)
            members[static_cast<std::size_t>(groups[i])].push_back(static_cast<std::int64_t>(i));
          for (std::size_t o = 0; o < members.size(); ++o) {
            const std::vector<std::int64_t>& group = members[o];
            std::vector<std::int64_t> order(group.size());
            std::iota(order.begin(), order.end(), 0);
            const auto value = [&](std::int64_t at) { return x.number(group[static_cast<std::size_t>(at)]); };
            std::stable_sort(order.begin(), order.end(),
                             [&](std::int64_t a, std::int64_t b) { return stands_before(value(a), value(b), false); });
            const double middle = value(order[(order.size() - 1) / 2]);
            values.set(static_cast<std::int64_t>(o), middle);
            positions.set_integer(static_cast<std::int64_t>(o), *std::find_if(order.begin(), order.end(), [&](std::int64_t a) {
                                    return !stands_before(value(a), middle, false) && !stands_before(middle, value(a), false);
                                  }));
          }
          e.result(std::move(values));
          e.result(std::move(positions));
        },
    .differentiable = Differentiable::by_gradient,
    .gradient = median_gradient,
    .cost = reduction_cost,
    .samples = distinct_reduction_samples,
    .popart_type = "ReduceMedian",
    .subscripts = whole_axis_subscripts,
});

}  // namespace pando::ir
