#include "ir/meaning/elements.h"
#include "ir/rows/define.h"

namespace pando::ir {

extern const OpRow op_bitwise_xor;
constexpr OpRow op_bitwise_xor = checked({
    .name = "bitwise_xor",
    .doc = "The bits that exactly one has, of integers. With NumPy's broadcasting.",
    .operands = {{{"lhs", any_integer}, {"rhs", any_integer}}},
    .infer = broadcast_same_type,
    .reference = [](Evaluation& e) {
      map_pairs(e, {}, [](std::int64_t a, std::int64_t b) { return a ^ b; });
    },
    .samples = [] { return integer_binary_samples(any_integer); },
    .elementwise = true,
    .popart_type = "BitwiseXor",
});

}  // namespace pando::ir
