#include "ir/meaning/elements.h"
#include "ir/rows/define.h"

namespace pando::ir {

extern const OpRow op_shift_right;
constexpr OpRow op_shift_right = checked({
    .name = "shift_right",
    .doc = "lhs with its bits moved down by rhs places; from above comes the bit of the sign, of unsigned integers 0. Where rhs is "
           "negative or not below the width, that bit is all that is left. With NumPy's broadcasting.",
    .operands = {{{"lhs", any_integer}, {"rhs", any_integer}}},
    .infer = broadcast_same_type,
    .reference = [](Evaluation& e) {
      const bool is_signed = is_signed_integer(e.operand(0).dtype());
      map_pairs(e, {}, [is_signed](std::int64_t a, std::int64_t b) -> std::int64_t {
        const bool all = b < 0 || b >= 64;
        if (is_signed) return a >> (all ? 63 : b);
        return all ? 0 : static_cast<std::int64_t>(static_cast<std::uint64_t>(a) >> static_cast<unsigned>(b));
      });
    },
    .samples = [] { return integer_binary_samples(any_integer); },
    .elementwise = true,
    .popart_type = "BitShift",
});

}  // namespace pando::ir
