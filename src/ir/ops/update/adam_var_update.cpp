#include "ir/shared/update.h"

#include <algorithm>
#include <cmath>

namespace pando::ir {

extern const OpRow op_adam_var_update;
constexpr OpRow op_adam_var_update = checked({
    .name = "adam_var_update",
    .doc = "t - learning_rate ratio x, into t. r1 and r2 are squared norms, of the weight and of the update: the ratio is "
           "min(max_weight_norm, sqrt(r1)) / sqrt(r2), and "
           "1 where either is 0. The learning rate is 1, the norm's maximum infinite, where they are not given.",
    .signature = "adam_var_update(t: Tensor, x: Tensor, r1: Tensor, r2: Tensor, learning_rate: Optional[Union[float, Tensor]]=None, "
                 "max_weight_norm: "
                 "Optional[Union[float, Tensor]]=None) -> Tensor",
    .module = "var_updates.adam_var_update",
    .operands = {{{"t", any_numeric},
                  {"x", any_numeric},
                  {"r1", any_numeric},
                  {"r2", any_numeric},
                  {.name = "learning_rate", .types = any_numeric, .optional = true},
                  {.name = "max_weight_norm", .types = any_numeric, .optional = true}}},
    .attributes = {{{"scalars", AttributeKind::texts, false},
                    {"learning_rate", AttributeKind::number, false},
                    {"max_weight_norm", AttributeKind::number, false}}},
    .infer =
        [](Inference& in) {
          check_scalars(in, 4, {"learning_rate", "max_weight_norm"});
          if (in.shape(0) != in.shape(1))
            in.reject("different-shapes", "t has shape {}, x {}", to_string(in.shape(0)), to_string(in.shape(1)));
          for (std::size_t i = 2; i < 4; ++i) {
            if (elements_of(in.shape(i)) != 1)
              in.reject("scalar-shape", "r{} has shape {}; it is one element", i - 1, to_string(in.shape(i)));
          }
          same_as_first(in);
        },
    .reference =
        [](Evaluation& e) {
          const double r1 = e.operand(2).number(0), r2 = e.operand(3).number(0), rate = scalar_value(e, "learning_rate", 4).value_or(1);
          const double weight_norm = std::min(std::sqrt(r1), scalar_value(e, "max_weight_norm", 4).value_or(INFINITY));
          const double ratio = r1 == 0 || r2 == 0 ? 1 : weight_norm / std::sqrt(r2);
          update_elements(e, [&](double t, double x) { return t - rate * ratio * x; });
        },
    .samples =
        [] {
          Sample s;
          s.operands = {{DType::float32, {3, 4}, -2, 2, {}},
                        {DType::float32, {3, 4}, -2, 2, {}},
                        {DType::float32, {}, 1, 9, {}},
                        {DType::float32, {}, 1, 9, {}}};
          s.attributes = {{"learning_rate", 0.5}, {"max_weight_norm", 1.5}};
          Sample tensors = s, zero = s;
          tensors.operands.push_back({DType::float32, {}, 0.1, 0.5, {}});
          tensors.attributes = {{"scalars", Strings{"learning_rate"}}};
          zero.operands[2].values = {0};
          return std::vector{s, tensors, zero};
        },
    .modifies = {{{0, 0}}},
    .popart_type = "AdamVarUpdate",
    .subscripts = update_subscripts,
});

}  // namespace pando::ir
