#include "ir/meaning/seeds.h"
#include "ir/op_row.h"

namespace pando::ir {

extern const OpRow op_create_random_seed;
constexpr OpRow op_create_random_seed = checked({
    .name = "create_random_seed",
    .doc = "A new seed from a seed and a number (its modifier, a scalar); different modifiers give different seeds.",
    .signature = "create_random_seed(seed: Tensor, modifier: Tensor) -> Tensor",
    .module = "random_seed",
    .operands = {{{"seed"}, {"modifier", any_integer}}},
    .infer = [](Inference& in) {
      check_seed(in, 0);
      if (elements_of(in.shape(1)) != 1) in.refuse("modifier-shape", "the modifier has the shape {}, not ()", to_string(in.shape(1)));
      in.result(DType::uint32, {2});
    },
    .reference = [](Evaluation& e) {
      const auto modifier = static_cast<std::uint32_t>(e.operand(1).integer(0));
      e.result(seed_at(e.fresh(), key_of(e.operand(0), kSeedStream), 4ull * modifier + 2));
    },
    .samples = [] {
      Sample s;
      s.operands = {{DType::uint32, {2}, 0, 0, {17, 4}}, {DType::uint32, {}, 0, 0, {5}}};
      return std::vector{s};
    },
    .popart_type = "ModifyRandomSeed",
});

}  // namespace pando::ir
