#include "ir/meaning/elements.h"
#include "ir/rows/define.h"

namespace pando::ir {

extern const OpRow op_split;
constexpr OpRow op_split = checked({
    .name = "split",
    .doc = "The pieces of a tensor along an axis, of the given lengths.",
    .signature = "split(t: Tensor, splits: Union[int, List[int]], axis: int = 0) -> List[Tensor]",
    .operands = {{{"t"}}},
    .attributes = {{{"splits", AttributeKind::ints}, {"axis", AttributeKind::integer}}},
    .infer = [](Inference& in) {
      const auto axis = static_cast<std::size_t>(axis_of(in));
      std::int64_t sum = 0;
      for (std::int64_t n : in.attributes().ints("splits")) {
        if (n < 1) in.reject("split-lengths", "a piece of length {}", n);
        Shape shape = in.shape(0);
        shape[axis] = n;
        sum += n;
        in.result(in.dtype(0), shape);
      }
      if (sum != in.shape(0)[axis]) in.reject("split-lengths", "the pieces have {} elements along axis {}, the tensor {}", sum, axis,
                                              in.shape(0)[axis]);
    },
    .reference = [](Evaluation& e) {
      const HostTensor& x = e.operand(0);
      const AxisView whole(x.shape(), e.attributes().integer("axis"));
      std::int64_t start = 0;
      for (std::size_t r = 0; r < e.result_count(); ++r) {
        HostTensor out = e.fresh(r);
        const AxisView part(out.shape(), e.attributes().integer("axis"));
        move_elements(out, x, [&](std::int64_t i) {
          return whole.position(i / part.inner / part.extent, start + i / part.inner % part.extent, i % part.inner);
        });
        start += part.extent;
        e.result(std::move(out));
      }
    },
    .differentiable = Differentiable::by_gradient,
    .gradient = [](Gradient& g) {
      std::vector<ValueId> pieces;
      for (std::size_t i = 0; i < g.attributes().ints("splits").size(); ++i) pieces.push_back(g.grad(i));
      g.give(0, g.ops("concat", pieces, {{"axis", g.attributes().integer("axis")}})[0]);
    },
    .expand = [](Expansion& x) {
      std::int64_t start = 0;
      for (std::int64_t n : x.attributes().ints("splits")) {
        const Attributes piece{{"start", Ints{start}}, {"stop", Ints{start + n}}, {"step", Ints{1}},
                               {"axis", Ints{x.attributes().integer("axis")}}};
        x.result(x.op("slice", {x.operand(0)}, piece));
        start += n;
      }
    },
    .cost = movement_cost,
    .samples = [] {
      std::vector<Sample> all;
      Sample s;
      s.operands = {{DType::float32, {2, 6}, -2, 2, {}}};
      s.attributes = {{"splits", Ints{1, 3, 2}}, {"axis", std::int64_t{1}}};
      all.push_back(s);
      s.operands = {{DType::int32, {4, 3}, -20, 20, {}}};
      s.attributes = {{"splits", Ints{2, 2}}, {"axis", std::int64_t{0}}};
      all.push_back(s);
      return all;
    },
    .popart_type = "Split",
    .subscripts = pieces_subscripts,
});

}  // namespace pando::ir
