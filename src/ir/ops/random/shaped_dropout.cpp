#include "ir/meaning/seeds.h"
#include "ir/rows/define.h"

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
      if (broadcast_shape(in, in.shape(0), shape) != in.shape(0)) in.reject("dropout-shape", "a mask of shape {} does not broadcast to {}",
                                                                            to_string(shape), to_string(in.shape(0)));
      same_as_first(in);
    },
    .reference = [](Evaluation& e) {
      evaluate_dropout(e, e.attributes().ints("shape"), e.attributes().number("ratio"));
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
    .whole = "random numbers belong to the elements of the whole tensor",
});

}  // namespace pando::ir
