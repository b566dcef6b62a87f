#include "ir/rows/define.h"

#include <cmath>

namespace pando::ir {

namespace {

// In float32 (double for double): t factor + shift, both for each channel.
void expand_inference(Expansion& x) {
  const Type& t = x.type_of(x.operand(0));
  const DType result = t.dtype, type = result == DType::float64 ? DType::float64 : DType::float32;
  Ints channels(t.shape.size() - 1, 1);
  channels[0] = t.shape[1];
  const auto in_type = [&](std::size_t i) {
    return x.type_of(x.operand(i)).dtype == type ? x.operand(i) : x.op("cast", {x.operand(i)}, {{"data_type", type}});
  };
  const ValueId deviation = x.op("sqrt", {x.op("add", {in_type(4), x.scalar(type, x.attributes().number("epsilon"))})});
  const ValueId factor = x.op("div", {in_type(1), deviation});
  const ValueId shift = x.op("sub", {in_type(2), x.op("mul", {in_type(3), factor})});
  const ValueId scaled = x.op("mul", {in_type(0), x.op("reshape", {factor}, {{"shape", channels}})});
  const ValueId y = x.op("add", {scaled, x.op("reshape", {shift}, {{"shape", channels}})});
  x.result(result == type ? y : x.op("cast", {y}, {{"data_type", result}}));
}

}  // namespace

extern const OpRow op_batch_norm_inference;
constexpr OpRow op_batch_norm_inference = checked({
    .name = "batch_norm_inference",
    .doc = "(t - mean) / sqrt(var + epsilon) scale + bias, each operand but t one number for each channel (dimension 1). `momentum` has no "
           "effect here.",
    .signature = "batch_norm_inference(t: Tensor, scale: Tensor, bias: Tensor, mean: Tensor, var: Tensor, epsilon: float=1e-05, momentum: "
                 "float=0.9) -> Tensor",
    .module = "batch_norm",
    .operands = {{{"t", any_floating}, {"scale", any_floating}, {"bias", any_floating}, {"mean", any_floating}, {"var", any_floating}}},
    .attributes = {{{"epsilon", AttributeKind::number}, {"momentum", AttributeKind::number, false}}},
    .infer =
        [](Inference& in) {
          const Shape& t = in.shape(0);
          if (t.size() < 2) in.reject("norm-rank", "data of shape {}; they need a batch and channels", to_string(t));
          for (std::size_t i = 1; i < 5; ++i) {
            if (in.shape(i) != Shape{t[1]})
              in.reject("norm-channels", "'{}' has shape {}; the data have {} channels", in.row().operands[i].name, to_string(in.shape(i)),
                        t[1]);
          }
          same_as_first(in);
        },
    .reference =
        [](Evaluation& e) {
          const Shape& shape = e.operand(0).shape();
          const std::int64_t after = elements_of(Shape(shape.begin() + 2, shape.end()));
          HostTensor y = e.fresh();
          for (std::int64_t i = 0; i < y.elements(); ++i) {
            const std::int64_t c = i / after % shape[1];
            const double deviation = std::sqrt(e.operand(4).number(c) + e.attributes().number("epsilon"));
            y.set(i, (e.operand(0).number(i) - e.operand(3).number(c)) / deviation * e.operand(1).number(c) + e.operand(2).number(c));
          }
          e.result(std::move(y));
        },
    .expand = expand_inference,
    .samples =
        [] {
          std::vector<Sample> all;
          for (const DType t : {DType::float32, DType::float16}) {
            Sample s;
            s.operands = {{t, {2, 3, 4, 2}, -2, 2, {}},
                          {t, {3}, 0.5, 1.5, {}},
                          {t, {3}, -1, 1, {}},
                          {DType::float32, {3}, -1, 1, {}},
                          {DType::float32, {3}, 0.5, 2, {}}};
            s.attributes = {{"epsilon", 1e-5}};
            all.push_back(s);
          }
          return all;
        },
    .popart_type = "BatchNormalization",
    .subscripts = [](const SubscriptsOf& o) {
      // A number for each channel in all operands but the first.
      Subscripts s = o.blank();
      for (auto* list : {&s.operands[0], &s.results[0]}) {
        put(*list, 0, 0);
        put(*list, 1, 1);
      }
      for (std::size_t i = 1; i < o.operands(); ++i) put(s.operands[i], 0, 1);
      return s;
    },
});

}  // namespace pando::ir
