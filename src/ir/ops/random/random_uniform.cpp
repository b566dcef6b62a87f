#include "ir/meaning/seeds.h"
#include "ir/rows/define.h"

namespace pando::ir {

extern const OpRow op_random_uniform;
constexpr OpRow op_random_uniform = checked({
    .name = "random_uniform",
    .doc = "Evenly distributed numbers from low (included) to high, each from the seed (two uint32) and its row-major position.",
    .signature = "random_uniform(seed_tensor: Tensor, shape: Tuple[int, ...], low: float = 0.0, high: float = 1.0, dtype: dtype = float32) "
                 "-> Tensor",
    .module = "random",
    .operands = {{{"seed_tensor"}}},
    .attributes = {{{"shape", AttributeKind::ints}, {"low", AttributeKind::number, false}, {"high", AttributeKind::number, false},
                    {"dtype", AttributeKind::dtype, false}}},
    .infer = [](Inference& in) {
      check_seed(in, 0);
      infer_random(in);
    },
    .reference = [](Evaluation& e) {
      HostTensor out = e.fresh();
      const RandomKey key = key_of(e.operand(0), kUniformStream);
      const double low = e.attributes().number("low", 0.0), high = e.attributes().number("high", 1.0);
      for (std::int64_t i = 0; i < out.elements(); ++i) {
        out.set(i, low + (high - low) * random_fraction(key, static_cast<std::uint64_t>(i)));
      }
      e.result(std::move(out));
    },
    .samples = [] {
      std::vector<Sample> all;
      for (DType t : {DType::float32, DType::float16}) {
        Sample s;
        s.operands = {{DType::uint32, {2}, 0, 0, {17, 4}}};
        s.attributes = {{"shape", Ints{3, 5}}, {"low", -1.0}, {"high", 2.0}, {"dtype", t}};
        all.push_back(s);
      }
      return all;
    },
    .popart_type = "RandomUniform",
    .whole = "random numbers belong to the elements of the whole tensor",
});

}  // namespace pando::ir
