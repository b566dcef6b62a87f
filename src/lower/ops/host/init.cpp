#include "lower/parts/op_lowering.h"

#include <popops/Zero.hpp>

namespace pando::lower {

extern const Row lower_init;
constexpr Row lower_init = {
    .name = "init",
    .lower =
        [](OpLowering& o) {
          const poplar::Tensor t = o.fresh();
          if (o.attributes().text("init_type") == "zero" && t.numElements() > 0) {
            o.need(Library::popops);
            popops::zero(o.graph(), t, o.program(), o.name());
          }
          o.result(0, t);
        },
};

}  // namespace pando::lower
