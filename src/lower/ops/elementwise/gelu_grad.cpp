#include "lower/lowering.h"

#include <popnn/NonLinearity.hpp>

namespace pando::lower {

// In terms of other ops it is several passes over memory.
extern const Row lower_gelu_grad;
constexpr Row lower_gelu_grad = {
    .name = "gelu_grad",
    .lower =
        [](OpLowering& o) {
          o.lowering().need(Library::popnn);
          o.result(0, popnn::nonLinearityInputGradient(o.graph(), popnn::NonLinearityType::GELU, o.operand(0), o.operand(1), o.program(),
                                                       o.name()));
        },
};

}  // namespace pando::lower
