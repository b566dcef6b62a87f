#include "ir/meaning/elements.h"
#include "ir/rows/define.h"

namespace pando::ir {

extern const OpRow op_bitwise_not;
constexpr OpRow op_bitwise_not = checked({
    .name = "bitwise_not",
    .doc = "The integer with every bit inverted.",
    .operands = {{{"t", any_integer}}},
    .infer = same_as_first,
    .reference = [](Evaluation& e) {
      map_numbers(e, [](double x) { return x; }, [](std::int64_t x) { return ~x; });
    },
    .samples = [] {
      std::vector<Sample> all = integer_binary_samples(any_integer);
      for (Sample& s : all) s.operands.pop_back();
      return all;
    },
    .elementwise = true,
    .popart_type = "BitwiseNot",
});

}  // namespace pando::ir
