#include "ir/meaning/formula.h"
#include "ir/rows/define.h"

#include <cmath>

namespace pando::ir {

extern const OpRow op_pow;
constexpr OpRow op_pow = checked({
    .name = "pow",
    .doc = "t to the power e, element by element, with NumPy's broadcasting. The exponent may have another element type; the result "
           "has that of t. Integers are computed as float32: beyond 2^24 they are rounded.",
    .signature = "pow(t: Tensor, e: Union[float, int, TensorLike]) -> Tensor",
    .operands = {{{"t", any_numeric}, {"e", any_numeric}}},
    .infer = [](Inference& in) {
      in.result(in.dtype(0), broadcast_shape(in, in.shape(0), in.shape(1)));
      in.results()[0].meta_shape = in.operand(0).meta_shape;
    },
    .reference = [](Evaluation& e) {
      const DType type = e.result_type().dtype;
      HostTensor out(is_integer(type) ? DType::float32 : type, e.result_type().shape);
      const HostTensor &t = e.operand(0), &power = e.operand(1);
      for (std::int64_t i = 0; i < out.elements(); ++i) {
        out.set(i, std::pow(t.number(broadcast_index(t.shape(), out.shape(), i)),
                            power.number(broadcast_index(power.shape(), out.shape(), i))));
      }
      e.result(out.converted(type));
    },
    .differentiable = Differentiable::by_gradient,
    .gradient = [](Gradient& g) {
      const DType dtype = g.operand_type(0).dtype, exponent = g.operand_type(1).dtype;
      if (!is_differentiable(dtype)) return;
      const auto t = formula(g, g.operand(0)), dy = formula(g, g.grad());
      const auto e = formula(g, exponent == dtype ? g.operand(1) : g.op("cast", {g.operand(1)}, {{"data_type", dtype}}));
      if (g.wants(0)) g.give(0, g.reduced_to(dy * e * formula(g, g.op("pow", {t, e - 1.0})), g.operand_type(0).shape));
      if (!g.wants(1) || !is_differentiable(exponent)) return;
      // No power of a base that is not positive changes evenly with its exponent.
      const auto log = select(g, g.op("greater", {t, t.number(0)}), t.op("log"), t.number(0));
      ValueId d = g.reduced_to(dy * formula(g, g.result()) * log, g.operand_type(1).shape);
      if (exponent != dtype) d = g.op("cast", {d}, {{"data_type", exponent}});
      g.give(1, d);
    },
    .samples = [] {
      std::vector<Sample> all;
      for (const auto& [a, b] : {std::pair<Shape, Shape>{{3, 4}, {3, 4}}, {{3, 4}, {}}, {{2, 1}, {3}}}) {
        Sample s;
        s.operands = {{DType::float32, a, 0.3, 2, {}}, {DType::float32, b, -2, 3, {}}};
        all.push_back(s);
        s.operands[0].dtype = DType::float16;
        all.push_back(s);
        s.operands[1] = {DType::int32, b, -2, 4, {}};
        all.push_back(s);
      }
      return all;
    },
    .elementwise = true,
    .popart_type = "Pow",
});

}  // namespace pando::ir
