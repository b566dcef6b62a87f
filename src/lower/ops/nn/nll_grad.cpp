#include "ir/shared/nll.h"
#include "lower/parts/op_lowering.h"
#include "lower/terms/element_types.h"
#include "lower/shared/expressions.h"
#include "lower/shared/labels.h"

#include <popops/ElementWise.hpp>

namespace pando::lower {

using poplar::Tensor;

extern const Row lower_nll_grad;
constexpr Row lower_nll_grad = {
    .name = "nll_grad",
    .makes_tensor = true,
    .lower =
        [](OpLowering& o) {
          const Labels l = labels_of(o);
          const Tensor p = label_probabilities(o, l), dy = loss_gradient(o, l, o.operand(2));
          const auto epsilon = static_cast<float>(ir::nll_epsilon(o.operand_type(0).dtype));
          Any d = pe::Neg(pe::Divide(pe::_2, pe::_3));
          if (!o.attributes().flag("log_prob", false)) d = pe::Divide(d, pe::Max(pe::_1, pe::Const(epsilon)));
          const Any masked = pe::Select(d, pe::Const(0.0f), pe::_4);
          const Tensor each =
              popops::map(o.graph(), masked, {p.expand({1}), dy, l.divisor, l.valid.expand({1})}, o.program(), o.name() + "/each");
          // At the label; elsewhere 0.
          const poplar::Type type = element_type(o.result_type().dtype);
          const Any spread = pe::Cast(pe::Select(pe::_1, pe::Const(0.0f), pe::Equal(pe::_2, pe::_3)), type);
          o.result(0, popops::map(o.graph(), spread, {each, l.labels.expand({1}), class_numbers(o, l)}, o.program(), o.name()));
        },
};

}  // namespace pando::lower
