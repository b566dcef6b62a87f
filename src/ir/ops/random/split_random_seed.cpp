#include "ir/meaning/seeds.h"
#include "ir/rows/define.h"

namespace pando::ir {

extern const OpRow op_split_random_seed;
constexpr OpRow op_split_random_seed = checked({
    .name = "split_random_seed",
    .doc = "n new seeds, all different, from one; the same ones each time.",
    .signature = "split_random_seed(seed: Tensor, n: int = 2) -> Tuple[Tensor, ...]",
    .module = "random_seed",
    .operands = {{{"seed"}}},
    .attributes = {{{"n", AttributeKind::integer}}},
    .infer = [](Inference& in) {
      check_seed(in, 0);
      const std::int64_t n = in.attributes().integer("n");
      if (n < 1) in.reject("seed-count", "{} seeds", n);
      for (std::int64_t i = 0; i < n; ++i) in.result(DType::uint32, {2});
    },
    .reference = [](Evaluation& e) {
      const RandomKey key = key_of(e.operand(0), kSeedStream);
      for (std::size_t r = 0; r < e.result_count(); ++r) e.result(seed_at(e.fresh(r), key, 4 * r));
    },
    .samples = [] {
      Sample s;
      s.operands = {{DType::uint32, {2}, 0, 0, {17, 4000000000.0}}};
      s.attributes = {{"n", std::int64_t{3}}};
      return std::vector{s};
    },
    .popart_type = "ModifyRandomSeed",
    .whole = "random numbers belong to the elements of the whole tensor",
});

}  // namespace pando::ir
