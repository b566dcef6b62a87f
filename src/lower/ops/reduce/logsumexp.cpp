#include "lower/parts/op_lowering.h"
#include "lower/shared/expressions.h"
#include "lower/shared/reductions.h"

#include <popops/ElementWise.hpp>

#include <limits>

namespace pando::lower {

using poplar::Tensor;

extern const Row lower_logsumexp;
constexpr Row lower_logsumexp = {
    .name = "logsumexp",
    .makes_tensor = true,
    .lower =
        [](OpLowering& o) {
          const poplar::Type wide = wide_type(o.result_type().dtype);
          // A finite shift: infinity less infinity would be no number.
          constexpr float kMost = std::numeric_limits<float>::max();
          const Tensor largest = reduced(o, o.operand(0), popops::Operation::MAX, wide);
          const Tensor most = popops::map(o.graph(), pe::Max(pe::Min(pe::_1, pe::Const(kMost)), pe::Const(-kMost)), {largest}, o.program(),
                                          o.name() + "/shift");
          const Any shifted = pe::Exp(pe::Sub(pe::Cast(pe::_1, wide), pe::_2));
          const Tensor powers = popops::map(o.graph(), shifted, {o.operand(0), beside_operand(o, most)}, o.program(), o.name() + "/powers");
          o.result(0, as_result(o, reduced_and(o, powers, popops::Operation::ADD, wide, pe::Add(pe::Log(pe::_1), pe::_2), {most})));
        },
};

}  // namespace pando::lower
