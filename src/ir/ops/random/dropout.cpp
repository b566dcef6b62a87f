#include "ir/meaning/seeds.h"
#include "ir/op_row.h"

namespace pando::ir {

extern const OpRow op_dropout;
constexpr OpRow op_dropout = checked({
    .name = "dropout",
    .doc = "Each element is kept with probability 1 - p and then multiplied by 1 / (1 - p), else 0. Which ones is decided by the "
           "seed (two uint32) and the element's row-major position alone, so the gradient keeps the same ones.",
    .signature = "dropout(t: Tensor, seed_tensor: Tensor, p: float) -> Tensor",
    .operands = {{{"t", any_floating}, {"seed_tensor"}}},
    .attributes = {{{"p", AttributeKind::number}}},
    .infer = [](Inference& in) {
      check_seed(in, 1);
      check_ratio(in, "p");
      same_as_first(in);
    },
    .reference = [](Evaluation& e) {
      const HostTensor& t = e.operand(0);
      HostTensor out = e.fresh();
      const RandomKey key = key_of(e.operand(1), kDropoutStream);
      const double keep = 1 - e.attributes().number("p"), scale = static_cast<float>(1 / keep);
      for (std::int64_t i = 0; i < out.elements(); ++i) out.set(i, random_keep(key, static_cast<std::uint64_t>(i), keep) ? static_cast<float>(t.number(i) * scale) : 0);
      e.result(std::move(out));
    },
    .differentiable = Differentiable::by_gradient,
    .gradient = [](Gradient& g) { g.give(0, g.op("dropout", {g.grad(), g.operand(1)}, g.attributes())); },
    .samples = [] {
      std::vector<Sample> all;
      for (DType t : {DType::float32, DType::float16}) {
        for (double p : {0.0, 0.3, 0.9}) {
          Sample s;
          s.operands = {{t, {5, 7}, -2, 2, {}}, {DType::uint32, {2}, 0, 0, {17, 4000000000.0}}};
          s.attributes = {{"p", p}};
          all.push_back(s);
        }
      }
      return all;
    },
    .popart_type = "Dropout",
});

}  // namespace pando::ir
