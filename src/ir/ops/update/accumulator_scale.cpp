#include "ir/shared/update.h"

namespace pando::ir {

extern const OpRow op_accumulator_scale;
constexpr OpRow op_accumulator_scale = checked({
    .name = "accumulator_scale_",
    .doc = "f t, into t. A factor that is the number 0 gives zeros whatever t holds.",
    .signature = "accumulator_scale_(t: Tensor, f: Union[float, Tensor]) -> Tensor",
    .module = "var_updates.accumulate",
    .operands = {{{"t", any_numeric}, {.name = "f", .types = any_numeric, .optional = true}}},
    .attributes = {{{"f", AttributeKind::number, false}, {"scalars", AttributeKind::texts, false}}},
    .infer = [](Inference& in) {
      check_scalars(in, 1, {"f"});
      if (in.operands() == 1 && !in.attributes().has("f")) in.reject("scalar-missing", "it needs f");
      same_as_first(in);
    },
    .reference = [](Evaluation& e) {
      const double f = *scalar_value(e, "f", 1);
      if (f == 0 && e.attributes().has("f")) return e.result(e.fresh());
      mixed_elements(e, [f](double t, double) { return f * t; }, true);
    },
    .samples = [] {
      Sample number;
      number.operands = {{DType::float32, {3, 4}, -2, 2, {}}};
      number.attributes = {{"f", 0.25}};
      Sample tensor = number;
      tensor.operands.push_back({DType::float32, {}, 0.5, 2, {}});
      tensor.attributes = {{"scalars", Strings{"f"}}};
      return std::vector{number, tensor};
    },
    .modifies = {{{0, 0}}},
    .popart_type = "AccumulatorScale",
    .subscripts = update_subscripts,
});

}  // namespace pando::ir
