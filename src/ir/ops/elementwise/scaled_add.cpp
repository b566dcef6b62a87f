#include "ir/rows/define.h"
#include "ir/shared/scalars.h"
#include "ir/shared/update.h"

namespace pando::ir {

extern const OpRow op_scaled_add;
constexpr OpRow op_scaled_add = checked({
    .name = "scaled_add",
    .doc = "a X + b Y, element by element. X and Y have one shape and may differ in element type; the result has that of X; integers "
           "that meet others or fractions are computed as float32. a and b are numbers or scalar tensors.",
    .signature = "scaled_add(X: Tensor, Y: Tensor, a: Union[float, Tensor] = 1.0, b: Union[float, Tensor] = 1.0) -> Tensor",
    .operands = {{{"X", any_numeric},
                  {"Y", any_numeric},
                  {.name = "a", .types = any_numeric, .optional = true},
                  {.name = "b", .types = any_numeric, .optional = true}}},
    .attributes = {{{"a", AttributeKind::number, false}, {"b", AttributeKind::number, false}, {"scalars", AttributeKind::texts, false}}},
    .infer = [](Inference& in) {
      if (in.shape(0) != in.shape(1)) in.reject("different-shapes", "shapes {} and {}; it does not broadcast", to_string(in.shape(0)),
                                                to_string(in.shape(1)));
      if (in.operand(0).meta_shape != in.operand(1).meta_shape) in.reject("different-shards", "operands are shards of different tensors");
      check_scalars(in, 2, {"a", "b"});
      same_as_first(in);
    },
    .reference = [](Evaluation& e) {
      const double a = scalar_value(e, "a", 2).value_or(1), b = scalar_value(e, "b", 2).value_or(1);
      mixed_elements(e, [a, b](double x, double y) { return a * x + b * y; });
    },
    .samples = [] {
      std::vector<Sample> all;
      Sample s;
      s.operands = {{DType::float32, {3, 4}, -2, 2, {}}, {DType::float16, {3, 4}, -2, 2, {}}};
      s.attributes = {{"a", 0.5}, {"b", -2.0}};
      all.push_back(s);
      s.operands = {{DType::float16, {6}, -2, 2, {}}, {DType::float16, {6}, -2, 2, {}}, {DType::float32, {}, 0, 0, {3}}};
      s.attributes = {{"a", 0.5}, {"scalars", Strings{"b"}}};
      all.push_back(s);
      s.operands.push_back({DType::float32, {}, 0, 0, {-1}});
      s.attributes = {{"scalars", Strings{"a", "b"}}};
      all.push_back(s);
      s.operands = {{DType::uint32, {3}, 0, 0, {4294967295.0, 7, 0}}, {DType::float32, {3}, 0, 0, {1, 2, 3}}};
      s.attributes = {{"a", 1.0}, {"b", -0.5}};
      s.smooth = false;
      all.push_back(s);
      return all;
    },
    .elementwise = true,
    .has_in_place = true,
    .popart_type = "ScaledAdd",
    .popart_in_place_type = "ScaledAddLhsInplace",
});

}  // namespace pando::ir
