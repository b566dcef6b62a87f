#include "ir/shared/nll.h"
#include "lower/parts/op_lowering.h"
#include "lower/terms/element_types.h"
#include "lower/shared/expressions.h"
#include "lower/shared/labels.h"

#include <popops/ElementWise.hpp>

namespace pando::lower {

using poplar::Tensor;

extern const Row lower_nll_loss_with_softmax_grad;
constexpr Row lower_nll_loss_with_softmax_grad = {
    .name = "nll_loss_with_softmax_grad",
    .lower =
        [](OpLowering& o) {
          const Labels l = labels_of(o);
          const Tensor p = label_probabilities(o, l);
          const auto epsilon = static_cast<float>(ir::nll_epsilon(o.operand_type(0).dtype));
          const Any term = pe::Select(pe::Neg(pe::Log(pe::Add(pe::_1, pe::Const(epsilon)))), pe::Const(0.0f), pe::_2);
          reduce_terms(o, l, popops::map(o.graph(), term, {p, l.valid}, o.program(), o.name() + "/terms"), 0);
          // What each row's difference is multiplied with.
          const Any factor = o.operands() == 3 ? Any(pe::_3) : Any(pe::Const(static_cast<float>(o.attributes().number("loss_grad", 1))));
          std::vector<Tensor> of_row{l.valid.expand({1}), l.divisor};
          if (o.operands() == 3) of_row.push_back(loss_gradient(o, l, o.operand(2)));
          const Any scaled = pe::Select(pe::Divide(factor, pe::_2), pe::Const(0.0f), pe::_1);
          const Tensor scale = popops::map(o.graph(), scaled, of_row, o.program(), o.name() + "/scale");
          const poplar::Type type = element_type(o.result_type(1).dtype);
          const Any is_label = pe::Select(pe::Const(1.0f), pe::Const(0.0f), pe::Equal(pe::_2, pe::_3));
          Any dx = pe::Mul(pe::Sub(pe::Cast(pe::_1, poplar::FLOAT), is_label), pe::_4);
          std::vector<Tensor> tensors{l.probs, l.labels.expand({1}), class_numbers(o, l), scale};
          // A row that is ignored may hold anything: zero times what is not finite is not zero.
          if (o.attributes().find("ignore_index") != nullptr) {
            dx = pe::Select(dx, pe::Const(0.0f), pe::_5);
            tensors.push_back(l.valid.expand({1}));
          }
          o.result(1, popops::map(o.graph(), Any(pe::Cast(dx, type)), tensors, o.program(), o.name() + "/gradient"));
        },
};

}  // namespace pando::lower
