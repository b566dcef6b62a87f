#include "lower/parts/op_lowering.h"

namespace pando::lower {

extern const Row lower_host_load;
constexpr Row lower_host_load = {
    .name = "host_load",
    .makes_tensor = true,
    .lower =
        [](OpLowering& o) {
          const poplar::Tensor t = o.fresh();
          const auto stream = std::get<ir::HostStreamId>(*o.attributes().find("stream"));
          o.channels().use(stream);
          if (t.numElements() > 0) o.program().add(poplar::program::Copy(o.channels().stream(stream), t, false, o.name()));
          o.result(0, t);
        },
};

}  // namespace pando::lower
