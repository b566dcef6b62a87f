#include "lower/parts/op_lowering.h"

namespace pando::lower {

extern const Row lower_split;
constexpr Row lower_split = {
    .name = "split",
    .lower =
        [](OpLowering& o) {
          const auto axis = static_cast<unsigned>(o.attributes().integer("axis"));
          std::size_t at = 0;
          for (std::size_t r = 0; r < o.results(); ++r) {
            const auto length = static_cast<std::size_t>(o.attributes().ints("splits")[r]);
            o.result_view(r, o.operand(0).slice(at, at + length, axis));
            at += length;
          }
        },
};

}  // namespace pando::lower
