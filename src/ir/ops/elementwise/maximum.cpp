#include "ir/meaning/extreme.h"
#include "ir/meaning/formula.h"
#include "ir/rows/define.h"

#include <limits>

namespace pando::ir {

extern const OpRow op_maximum;
constexpr OpRow op_maximum = checked({
    .name = "maximum",
    .doc = "The largest of the operands, element by element, with NumPy's broadcasting; all have one element type; NaN wins. Its "
           "gradient goes to every operand that equals the result.",
    .signature = "maximum(*ts: Tensor) -> Tensor",
    .module = "max",
    .operands = {{{.name = "ts", .types = any_numeric, .variadic = true}}},
    .infer = [](Inference& in) {
      if (in.operands() == 0) in.refuse("operand-count", "it takes one operand or more");
      broadcast_same_type(in);
    },
    .reference = [](Evaluation& e) {
      HostTensor out = e.fresh();
      const bool whole = !is_floating(out.dtype());
      for (std::int64_t i = 0; i < out.elements(); ++i) {
        for (std::size_t o = 0; o < e.operands(); ++o) {
          const HostTensor& x = e.operand(o);
          const std::int64_t at = broadcast_index(x.shape(), out.shape(), i);
          if (whole)
            out.set_integer(i, o == 0 ? x.integer(at) : larger(out.integer(i), x.integer(at)));
          else
            out.set(i, o == 0 ? x.number(at) : larger(out.number(i), x.number(at)));
        }
      }
      e.result(std::move(out));
    },
    .differentiable = Differentiable::by_gradient,
    .gradient = [](Gradient& g) {
      for (std::size_t i = 0; i < g.operands(); ++i) {
        if (!g.wants(i)) continue;
        const ValueId same = g.op("equal", {g.operand(i), g.result()});
        g.give(i, g.reduced_to(select(g, same, g.grad(), g.scalar(g.operand_type(i).dtype, 0)), g.operand_type(i).shape));
      }
    },
    .samples = [] {
      std::vector<Sample> all = binary_samples();
      for (Sample& s : all) s.smooth = false;
      Sample s;
      s.operands = {{DType::float32, {2, 3}, 0, 0, {1, 2, 3, 4, 5, 6}}, {DType::float32, {3}, 0, 0, {3, 2.5, 1}},
                    {DType::float32, {}, 0, 0, {3.5}}};
      all.push_back(s);
      constexpr double kNan = std::numeric_limits<double>::quiet_NaN(), kInfinity = std::numeric_limits<double>::infinity();
      for (const DType t : {DType::float32, DType::float16}) {
        Sample special;
        special.operands = {
            {t, {5}, 0, 0, {1, kNan, kNan, kInfinity, -kInfinity}}, {t, {5}, 0, 0, {kNan, 2, kNan, kNan, 3}}, {t, {}, 0, 0, {1}}};
        special.smooth = false;
        all.push_back(special);
      }
      return all;
    },
    .elementwise = true,
    .popart_type = "Max",
});

}  // namespace pando::ir
