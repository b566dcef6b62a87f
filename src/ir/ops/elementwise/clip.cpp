#include "ir/meaning/formula.h"
#include "ir/rows/define.h"

#include <limits>

namespace pando::ir {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

extern const OpRow op_clip;
constexpr OpRow op_clip = checked({
    .name = "clip",
    .doc = "The element, or the nearest of min and max where it lies outside; absent bounds are infinite. Its gradient passes where "
           "the element lies inside.",
    .signature = "clip(t: Tensor, min: float = float('-inf'), max: float = float('inf')) -> Tensor",
    .operands = {{{"t", any_numeric}}},
    .attributes = {{{"min", AttributeKind::number, false}, {"max", AttributeKind::number, false}}},
    .infer = same_as_first,
    .reference = [](Evaluation& e) {
      const double low = e.attributes().number("min", -kInfinity), high = e.attributes().number("max", kInfinity);
      map_elements(e, [=](double x) { return x < low ? low : x > high ? high : x; });
    },
    .differentiable = Differentiable::by_gradient,
    .gradient = [](Gradient& g) {
      const auto x = formula(g, g.operand(0));
      const ValueId below = g.op("greater", {x.number(g.attributes().number("min", -kInfinity)), x});
      const ValueId above = g.op("greater", {x, x.number(g.attributes().number("max", kInfinity))});
      g.give(0, select(g, g.op("logical_or", {below, above}), x.number(0), g.grad()));
    },
    .samples = [] {
      Sample s;
      s.operands = {{DType::float32, {2, 4}, 0, 0, {-2, -0.75, -0.25, 0, 0.25, 0.75, 1.5, 3}}};
      s.attributes = {{"min", -0.5}, {"max", 1.0}};
      std::vector<Sample> all{s};
      s.operands[0].dtype = DType::float16;
      s.attributes = {{"max", 1.0}};
      all.push_back(s);
      return all;
    },
    .elementwise = true,
    .popart_type = "Clip",
});

}  // namespace pando::ir
