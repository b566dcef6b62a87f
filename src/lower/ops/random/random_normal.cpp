#include "ir/random.h"
#include "lower/parts/op_lowering.h"

#include <poprand/RandomGen.hpp>

namespace pando::lower {

extern const Row lower_random_normal;
constexpr Row lower_random_normal = {
    .name = "random_normal",
    .makes_tensor = true,
    .lower =
        [](OpLowering& o) {
          o.need(Library::poprand);
          const poplar::Tensor seed = o.operand(0), like = o.fresh();
          const ir::Attributes& a = o.attributes();
          o.result(0, poprand::normal(o.graph(), &seed, ir::kNormalStream, like, like.elementType(), a.number("mean", 0.0),
                                      a.number("std", 1.0), o.program(), o.name()));
        },
};

}  // namespace pando::lower
