#include "lower/parts/op_lowering.h"

namespace pando::lower {

extern const Row lower_subsample;
constexpr Row lower_subsample = {
    .name = "subsample",
    .lower =
        [](OpLowering& o) {
          poplar::Tensor t = o.operand(0);
          const ir::Ints& strides = o.attributes().ints("strides");
          for (unsigned d = 0; d < strides.size(); ++d) t = t.subSample(static_cast<unsigned>(strides[d]), d);
          o.result_view(0, t);
        },
};

}  // namespace pando::lower
