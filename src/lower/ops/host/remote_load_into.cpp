#include "lower/parts/op_lowering.h"
#include "lower/shared/remote.h"

namespace pando::lower {

extern const Row lower_remote_load_into;
constexpr Row lower_remote_load_into = {
    .name = "remote_load_into",
    .lower =
        [](OpLowering& o) {
          const poplar::Tensor t = o.take_undefined(0);
          o.program().add(poplar::program::Copy(remote_buffer(o), t.flatten().expand({0}), remote_offset(o, 1), o.name()));
          o.result_taken(0, 0);
        },
};

}  // namespace pando::lower
