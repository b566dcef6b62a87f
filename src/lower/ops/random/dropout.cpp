#include "ir/random.h"
#include "lower/parts/op_lowering.h"

#include <poprand/RandomGen.hpp>

namespace pando::lower {

extern const Row lower_dropout;
constexpr Row lower_dropout = {
    .name = "dropout",
    .makes_tensor = true,
    .lower =
        [](OpLowering& o) {
          o.need(Library::poprand);
          const poplar::Tensor t = o.operand(0), seed = o.operand(1);
          const double keep = 1 - o.attributes().number("p");
          o.result(0, poprand::dropout(o.graph(), &seed, ir::kDropoutStream, t, t, keep, 1 / keep, o.program(), o.name()));
        },
};

}  // namespace pando::lower
