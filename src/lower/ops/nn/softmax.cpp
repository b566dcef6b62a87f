#include "lower/parts/op_lowering.h"
#include "lower/terms/moving.h"

#include <popnn/NonLinearity.hpp>

namespace pando::lower {

extern const Row lower_softmax;
constexpr Row lower_softmax = {
    .name = "softmax",
    .makes_tensor = true,
    .lower =
        [](OpLowering& o) {
          o.need(Library::popnn);
          const auto axis = static_cast<unsigned>(o.attributes().integer("axis"));
          const poplar::Tensor t = o.operand(0);
          o.result(0, popnn::softmaxStable(o.graph(), with_whole_rows(o, t.flatten(axis, t.rank())), o.program(), o.name()));
        },
    .unview = keeps_layout,
};

}  // namespace pando::lower
