#include "lower/parts/op_lowering.h"

#include <popnn/NonLinearity.hpp>

namespace pando::lower {

// In terms of other ops it is several passes over memory.
extern const Row lower_geluerf_grad;
constexpr Row lower_geluerf_grad = {
    .name = "geluerf_grad",
    .makes_tensor = true,
    .lower =
        [](OpLowering& o) {
          o.need(Library::popnn);
          o.result(0, popnn::nonLinearityInputGradient(o.graph(), popnn::NonLinearityType::GELU_ERF, o.operand(0), o.operand(1),
                                                       o.program(), o.name()));
        },
};

}  // namespace pando::lower
