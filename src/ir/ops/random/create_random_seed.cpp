#include "ir/meaning/formula.h"
#include "ir/meaning/seeds.h"
#include "ir/rows/define.h"

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
      if (elements_of(in.shape(1)) != 1) in.reject("modifier-shape", "the modifier has the shape {}, not ()", to_string(in.shape(1)));
      in.result(DType::uint32, {2});
    },
    .reference = [](Evaluation& e) {
      const auto modifier = static_cast<std::uint32_t>(e.operand(1).integer(0));
      RandomKey key = key_of(e.operand(0), kSeedStream);
      key.seed[1] += (modifier + 1) * kSeedStep;
      e.result(seed_at(e.fresh(), key, 0));
    },
    .expand = [](Expansion& x) {
      const Attributes one{{"shape", Ints{1}}};
      const bool fits = x.type_of(x.operand(1)).dtype == DType::uint32;
      const ValueId modifier = fits ? x.operand(1) : x.op("cast", {x.operand(1)}, {{"data_type", DType::uint32}});
      const ValueId higher = (formula(x, modifier) + 1.0) * static_cast<double>(kSeedStep);
      const ValueId both = x.op("concat", {x.op("reshape", {x.scalar(DType::uint32, 0)}, one), x.op("reshape", {higher}, one)},
                                {{"axis", std::int64_t{0}}});
      x.result(x.op("split_random_seed", {x.op("add", {x.operand(0), both})}, {{"n", std::int64_t{1}}}));
    },
    .samples = [] {
      Sample s;
      s.operands = {{DType::uint32, {2}, 0, 0, {17, 4}}, {DType::uint32, {}, 0, 0, {5}}};
      std::vector<Sample> all{s};
      s.operands = {{DType::uint32, {2}, 0, 0, {17, 4000000000.0}}, {DType::int32, {1}, 0, 0, {0}}};
      all.push_back(s);
      return all;
    },
    .popart_type = "ModifyRandomSeed",
    .whole = "it has no operands to cut",
});

}  // namespace pando::ir
