#include "ir/meaning/elements.h"
#include "ir/rows/define.h"

namespace pando::ir {

namespace {

// Axis by axis: every element with zeros behind it, then what is too much cut off.
void subsample_gradient(Gradient& g) {
  const Shape& shape = g.operand_type(0).shape;
  const Ints& strides = g.attributes().ints("strides");
  ValueId v = g.grad();
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (strides[d] == 1) continue;
    const auto axis = static_cast<std::int64_t>(d);
    Type type = g.type_of(v);
    const std::int64_t n = type.shape[d];
    Ints apart = type.shape;
    apart.insert(apart.begin() + axis + 1, 1);
    v = g.op("reshape", {v}, {{"shape", apart}});
    Type zeros = type;
    zeros.shape = apart;
    zeros.shape[d + 1] = strides[d] - 1;
    v = g.op("concat", {v, zeros_like(g, zeros)}, {{"axis", axis + 1}});
    type.shape[d] = n * strides[d];
    v = g.op("reshape", {v}, {{"shape", Ints(type.shape)}});
    if (type.shape[d] != shape[d]) {
      v = g.op("slice", {v}, {{"start", Ints{0}}, {"stop", Ints{shape[d]}}, {"step", Ints{1}}, {"axis", Ints{axis}}});
    }
  }
  g.give(0, v);
}

}  // namespace

extern const OpRow op_subsample;
constexpr OpRow op_subsample = checked({
    .name = "subsample",
    .doc = "Every stride-th element of each axis, beginning with the first; one stride for each axis.",
    .signature = "subsample(t: Tensor, strides: Union[int, Iterable[int]]) -> Tensor",
    .operands = {{{"t"}}},
    .attributes = {{{"strides", AttributeKind::ints}}},
    .infer = [](Inference& in) {
      const Ints& strides = in.attributes().ints("strides");
      Shape shape = in.shape(0);
      if (strides.size() != shape.size()) in.reject("subsample-strides", "{} strides for rank {}", strides.size(), shape.size());
      for (std::size_t d = 0; d < shape.size(); ++d) {
        if (strides[d] < 1) in.reject("subsample-strides", "a stride of {}", strides[d]);
        shape[d] = (shape[d] + strides[d] - 1) / strides[d];
      }
      in.result(in.dtype(0), shape);
    },
    .reference = [](Evaluation& e) {
      HostTensor out = e.fresh();
      const HostTensor& x = e.operand(0);
      const Ints& strides = e.attributes().ints("strides");
      move_elements(out, x, [&](std::int64_t i) {
        Shape at = coordinates_of(out.shape(), i);
        for (std::size_t d = 0; d < at.size(); ++d) at[d] *= strides[d];
        return position_of(x.shape(), at);
      });
      e.result(std::move(out));
    },
    .differentiable = Differentiable::by_gradient,
    .gradient = subsample_gradient,
    .cost = movement_cost,
    .samples = [] {
      std::vector<Sample> all;
      for (const auto& [shape, strides] : {std::pair<Shape, Ints>{{5}, {2}}, {{4, 7}, {1, 3}}, {{4, 6, 2}, {2, 4, 1}}}) {
        Sample s;
        s.operands = {{DType::float32, shape, -2, 2, {}}};
        s.attributes = {{"strides", strides}};
        all.push_back(s);
      }
      return all;
    },
    .popart_type = "Subsample",
    .subscripts = [](const SubscriptsOf& o) {
      Subscripts s = o.blank();
      const Ints& strides = o.attributes().ints("strides");
      for (std::size_t d = 0; d < strides.size(); ++d) {
        put(s.operands[0], d, d);
        put(s.results[0], d, d);
        if (strides[d] != 1) s.blocked |= std::uint64_t{1} << d;
      }
      s.sums = Subscripts::Sums::every;
      return s;
    },
});

}  // namespace pando::ir
