#include "ir/meaning/seeds.h"
#include "ir/op_row.h"

namespace pando::ir {

extern const OpRow op_shaped_dropout;
constexpr OpRow op_shaped_dropout = checked({
    .name = "shaped_dropout",
    .doc = "dropout with one mask of the given shape, which broadcasts to that of t: whole rows or channels are kept together.",
    .signature = "shaped_dropout(t: Tensor, seed_tensor: Tensor, shape: Iterable[int], ratio: float) -> Tensor",
    .operands = {{{"t", any_floating}, {"seed_tensor"}}},
    .attributes = {{{"shape", AttributeKind::ints}, {"ratio", AttributeKind::number}}},
    .infer = [](Inference& in) {
      check_seed(in, 1);
      check_ratio(in, "ratio");
      const Ints& shape = in.attributes().ints("shape");
      if (broadcast_shape(in, in.shape(0), shape) != in.shape(0)) in.refuse("dropout-shape", "a mask of shape {} does not broadcast to {}", to_string(shape), to_string(in.shape(0)));
      same_as_first(in);
    },
    .reference = [](Evaluation& e) {
      const HostTensor& t = e.operand(0);
      HostTensor out = e.fresh();
      const RandomKey key = key_of(e.operand(1), kDropoutStream);
      const double keep = 1 - e.attributes().number("ratio"), scale = static_cast<float>(1 / keep);
      for (std::int64_t i = 0; i < out.elements(); ++i) {
        const std::int64_t at = broadcast_index(e.attributes().ints("shape"), out.shape(), i);
        out.set(i, random_keep(key, static_cast<std::uint64_t>(at), keep) ? static_cast<float>(t.number(i) * scale) : 0);
      }
      e.result(std::move(out));
    },
    .differentiable = Differentiable::by_gradient,
    .gradient = [](Gradient& g) { g.give(0, g.op("shaped_dropout", {g.grad(), g.operand(1)}, g.attributes())); },
    .samples = [] {
      std::vector<Sample> all;
      for (const Ints& shape : {Ints{5, 1}, Ints{7}, Ints{5, 7}}) {
        Sample s;
        s.operands = {{DType::float32, {5, 7}, -2, 2, {}}, {DType::uint32, {2}, 0, 0, {17, 4}}};
        s.attributes = {{"shape", shape}, {"ratio", 0.4}};
        all.push_back(s);
      }
      return all;
    },
    .popart_type = "ShapedDropout",
});

}  // namespace pando::ir
