#include "lower/parts/op_lowering.h"

namespace pando::lower {

extern const Row lower_host_store;
constexpr Row lower_host_store = {
    .name = "host_store",
    .lower =
        [](OpLowering& o) {
          const poplar::Tensor t = o.operand(0);
          const auto stream = std::get<ir::HostStreamId>(*o.attributes().find("stream"));
          o.channels().use(stream);
          if (t.numElements() > 0) o.program().add(poplar::program::Copy(t, o.channels().stream(stream), false, o.name()));
        },
};

}  // namespace pando::lower
