#include "ir/meaning/elements.h"
#include "ir/op_row.h"

#include <cmath>
#include <cmath>
#include <limits>

namespace pando::ir {

extern const OpRow op_isinf;
constexpr OpRow op_isinf = checked({
    .name = "isinf",
    .doc = "true where the element is infinite.",
    .signature = "isinf(t: Tensor) -> Tensor",
    .operands = {{{"t", any_numeric}}},
    .infer = infer_bool,
    .reference = map_unary<[](double x) { return std::isinf(x); }>,
    .samples = [] {
      Sample s;
      s.operands = {{DType::float32, {5}, 0, 0, {1, std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity(), std::nan(""), -0.0}}};
      std::vector<Sample> all{s};
      all[0].operands[0].dtype = DType::float16;
      all.push_back(s);
      return all;
    },
    .elementwise = true,
    .popart_type = "IsInf",
});

}  // namespace pando::ir
