#include "lower/parts/op_lowering.h"
#include "lower/terms/element_types.h"

namespace pando::lower {

extern const Row lower_expand;
constexpr Row lower_expand = {
    .name = "expand",
    .lower =
        [](OpLowering& o) {
          const auto shape = extents(o.result_type().shape);
          poplar::Tensor t = o.operand(0);
          while (t.rank() < shape.size()) t = t.expand({0});
          for (unsigned d = 0; d < shape.size(); ++d) {
            if (t.dim(d) != shape[d]) t = t.broadcast(static_cast<unsigned>(shape[d]), d);
          }
          o.result_view(0, t);
        },
};

}  // namespace pando::lower
