#include "ir/meaning/elements.h"
#include "ir/rows/define.h"

namespace pando::ir {

extern const OpRow op_shift_left;
constexpr OpRow op_shift_left = checked({
    .name = "shift_left",
    .doc = "lhs with its bits moved up by rhs places; those beyond the type's width are lost. 0 where rhs is negative or not below the "
           "width. With NumPy's broadcasting.",
    .operands = {{{"lhs", any_integer}, {"rhs", any_integer}}},
    .infer = broadcast_same_type,
    .reference = [](Evaluation& e) {
      map_pairs(e, {}, [](std::int64_t a, std::int64_t b) {
        return b < 0 || b >= 64 ? 0 : static_cast<std::int64_t>(static_cast<std::uint64_t>(a) << static_cast<unsigned>(b));
      });
    },
    .samples = [] { return integer_binary_samples(any_integer); },
    .elementwise = true,
    .popart_type = "BitShift",
});

}  // namespace pando::ir
