#include "ir/shared/nll.h"
#include "lower/parts/op_lowering.h"
#include "lower/shared/expressions.h"
#include "lower/shared/labels.h"

#include <popops/ElementWise.hpp>

namespace pando::lower {

using poplar::Tensor;

extern const Row lower_nll_loss;
constexpr Row lower_nll_loss = {
    .name = "nll_loss",
    .lower =
        [](OpLowering& o) {
          const Labels l = labels_of(o);
          const Tensor p = label_probabilities(o, l);
          const auto epsilon = static_cast<float>(ir::nll_epsilon(o.operand_type(0).dtype));
          const Any term =
              o.attributes().flag("log_prob", false) ? Any(pe::Neg(pe::_1)) : Any(pe::Neg(pe::Log(pe::Max(pe::_1, pe::Const(epsilon)))));
          const Any masked = pe::Select(term, pe::Const(0.0f), pe::_2);
          reduce_terms(o, l, popops::map(o.graph(), masked, {p, l.valid}, o.program(), o.name() + "/terms"), 0);
        },
};

}  // namespace pando::lower
