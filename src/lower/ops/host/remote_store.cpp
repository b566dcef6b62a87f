#include "lower/parts/op_lowering.h"
#include "lower/shared/remote.h"

namespace pando::lower {

extern const Row lower_remote_store;
constexpr Row lower_remote_store = {
    .name = "remote_store",
    .lower =
        [](OpLowering& o) {
          o.program().add(poplar::program::Copy(o.operand(1).flatten().expand({0}), remote_buffer(o), remote_offset(o, 0), o.name()));
        },
};

}  // namespace pando::lower
