#include "lower/parts/op_lowering.h"
#include "lower/shared/remote.h"

namespace pando::lower {

extern const Row lower_remote_load;
constexpr Row lower_remote_load = {
    .name = "remote_load",
    .makes_tensor = true,
    .lower =
        [](OpLowering& o) {
          const poplar::Tensor t = o.fresh();
          o.program().add(poplar::program::Copy(remote_buffer(o), t.flatten().expand({0}), remote_offset(o, 0), o.name()));
          o.result(0, t);
        },
};

}  // namespace pando::lower
