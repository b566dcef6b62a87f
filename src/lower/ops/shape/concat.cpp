#include "lower/lowering.h"

namespace pando::lower {

extern const Row lower_concat;
constexpr Row lower_concat = {
    .name = "concat",
    .lower =
        [](OpLowering& o) {
          std::vector<poplar::Tensor> parts;
          for (std::size_t i = 0; i < o.operands(); ++i) parts.push_back(o.operand(i));
          o.result_view(0, poplar::concat(parts, static_cast<unsigned>(o.attributes().integer("axis"))));
        },
};

}  // namespace pando::lower
