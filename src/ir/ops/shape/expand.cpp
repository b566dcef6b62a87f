#include "ir/meaning/elements.h"
#include "ir/rows/define.h"

namespace pando::ir {

extern const OpRow op_expand;
constexpr OpRow op_expand = checked({
    .name = "expand",
    .doc = "Repeated to a shape, as NumPy broadcasts.",
    .operands = {{{"t"}}},
    .attributes = {{{"shape", AttributeKind::ints}}},
    .infer = [](Inference& in) {
      const Ints& shape = in.attributes().ints("shape");
      if (broadcast_shape(in, in.shape(0), shape) != shape) in.reject("expand-shape", "{} does not broadcast to {}", to_string(in.shape(0)),
                                                                      to_string(shape));
      in.result(in.dtype(0), shape);
    },
    .reference = [](Evaluation& e) {
      HostTensor out = e.fresh();
      const HostTensor& x = e.operand(0);
      move_elements(out, x, [&](std::int64_t i) { return broadcast_index(x.shape(), out.shape(), i); });
      e.result(std::move(out));
    },
    .differentiable = Differentiable::by_gradient,
    .gradient = [](Gradient& g) { g.give(0, g.reduced_to(g.grad(), g.operand_type(0).shape)); },
    .cost = movement_cost,
    .samples = [] {
      std::vector<Sample> all;
      for (const auto& [from, to] : {std::pair<Shape, Shape>{{3, 1}, {2, 3, 4}}, {{}, {5}}, {{2, 3}, {2, 3}}, {{1}, {1, 4}}}) {
        Sample s;
        s.operands = {{DType::float32, from, -2, 2, {}}};
        s.attributes = {{"shape", Ints(to)}};
        all.push_back(s);
      }
      return all;
    },
    .popart_type = "Expand",
    .subscripts = adding_subscripts,
});

}  // namespace pando::ir
