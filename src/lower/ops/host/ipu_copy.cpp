#include "lower/parts/op_lowering.h"

namespace pando::lower {

extern const Row lower_ipu_copy;
constexpr Row lower_ipu_copy = {
    .name = "ipu_copy",
    .lower =
        [](OpLowering& o) {
          const poplar::Tensor from = o.operand(0);
          const poplar::Tensor to = o.fresh();
          if (to.numElements() > 0) o.program().add(poplar::program::Copy(from, to, false, o.name()));
          o.result(0, to);
        },
};

}  // namespace pando::lower
