#include "lower/parts/op_lowering.h"

#include <popnn/NonLinearity.hpp>

namespace pando::lower {

extern const Row lower_softmax_grad;
constexpr Row lower_softmax_grad = {
    .name = "softmax_grad",
    .makes_tensor = true,
    .lower =
        [](OpLowering& o) {
          o.need(Library::popnn);
          const auto axis = static_cast<unsigned>(o.attributes().integer("axis"));
          const poplar::Tensor y = o.operand(0), dy = o.operand(1);
          o.result(0, popnn::nonLinearityInputGradient(o.graph(), popnn::NonLinearityType::SOFTMAX_STABLE, y.flatten(axis, y.rank()),
                                                       dy.flatten(axis, dy.rank()), o.program(), o.name()));
        },
};

}  // namespace pando::lower
