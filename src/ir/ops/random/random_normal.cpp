#include "ir/meaning/seeds.h"
#include "ir/rows/define.h"

namespace pando::ir {

extern const OpRow op_random_normal;
constexpr OpRow op_random_normal = checked({
    .name = "random_normal",
    .doc = "Normally distributed numbers with a mean and a standard deviation, each from the seed (two uint32) and its row-major "
           "position.",
    .signature = "random_normal(seed_tensor: Tensor, shape: Tuple[int, ...], mean: float = 0.0, std: float = 1.0, dtype: dtype = float32) "
                 "-> Tensor",
    .module = "random",
    .operands = {{{"seed_tensor"}}},
    .attributes = {{{"shape", AttributeKind::ints}, {"mean", AttributeKind::number, false}, {"std", AttributeKind::number, false},
                    {"dtype", AttributeKind::dtype, false}}},
    .infer = [](Inference& in) {
      check_seed(in, 0);
      infer_random(in);
    },
    .reference = [](Evaluation& e) {
      HostTensor out = e.fresh();
      const RandomKey key = key_of(e.operand(0), kNormalStream);
      const double mean = e.attributes().number("mean", 0.0), std = e.attributes().number("std", 1.0);
      for (std::int64_t i = 0; i < out.elements(); ++i) out.set(i, mean + std * random_normal(key, static_cast<std::uint64_t>(i)));
      e.result(std::move(out));
    },
    .samples = [] {
      std::vector<Sample> all;
      for (DType t : {DType::float32, DType::float16}) {
        Sample s;
        s.operands = {{DType::uint32, {2}, 0, 0, {17, 4}}};
        s.attributes = {{"shape", Ints{3, 5}}, {"mean", -1.0}, {"std", 2.0}, {"dtype", t}};
        all.push_back(s);
      }
      return all;
    },
    .popart_type = "RandomNormal",
    .whole = "random numbers belong to the elements of the whole tensor",
});

}  // namespace pando::ir
