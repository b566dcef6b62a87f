#include "ir/random.h"
#include "lower/parts/op_lowering.h"

#include <poprand/RandomGen.hpp>

namespace pando::lower {

extern const Row lower_random_uniform;
constexpr Row lower_random_uniform = {
    .name = "random_uniform",
    .makes_tensor = true,
    .lower =
        [](OpLowering& o) {
          o.need(Library::poprand);
          const poplar::Tensor seed = o.operand(0), like = o.fresh();
          const ir::Attributes& a = o.attributes();
          o.result(0, poprand::uniform(o.graph(), &seed, ir::kUniformStream, like, like.elementType(), a.number("low", 0.0),
                                       a.number("high", 1.0), o.program(), o.name()));
        },
};

}  // namespace pando::lower
