#include "ir/meaning/seeds.h"
#include "ir/rows/define.h"

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
      evaluate_dropout(e, e.operand(0).shape(), e.attributes().number("p"));
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
    .whole = "random numbers belong to the elements of the whole tensor",
});

}  // namespace pando::ir
