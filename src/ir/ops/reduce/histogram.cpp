#include "ir/error.h"
#include "ir/meaning/reduction.h"
#include "ir/rows/define.h"

#include <algorithm>
#include <cmath>

namespace pando::ir {

extern const OpRow op_histogram;
constexpr OpRow op_histogram = checked({
    .name = "histogram",
    .doc = "How many elements lie below the first level, between neighbouring levels, and at or above the last one: uint32, one more "
           "than there are levels. An element that equals a level counts above it. absolute_of_input: of the absolute values.",
    .signature = "histogram(t: Tensor, levels: List[float], absolute_of_input: bool) -> Tensor",
    .operands = {{{"t", any_floating}}},
    .attributes = {{{"levels", AttributeKind::numbers}, {"absolute_of_input", AttributeKind::flag}}},
    .infer = [](Inference& in) {
      const Floats& levels = in.attributes().floats("levels");
      for (std::size_t i = 1; i < levels.size(); ++i) {
        if (!(levels[i - 1] < levels[i])) reject(ErrorClass::value, "histogram-levels",
                                                 "histogram: level {} ({}) is not above the one before it", i, levels[i]);
      }
      in.result(DType::uint32, {static_cast<std::int64_t>(levels.size()) + 1});
    },
    .reference = [](Evaluation& e) {
      const Floats& levels = e.attributes().floats("levels");
      HostTensor out = e.fresh();
      for (std::int64_t i = 0; i < e.operand(0).elements(); ++i) {
        double v = e.operand(0).number(i);
        if (e.attributes().flag("absolute_of_input")) v = std::fabs(v);
        const auto bin = std::upper_bound(levels.begin(), levels.end(), v) - levels.begin();
        out.set_integer(bin, out.integer(bin) + 1);
      }
      e.result(std::move(out));
    },
    .cost = reduction_cost,
    .samples = [] {
      std::vector<Sample> all;
      for (bool absolute : {false, true}) {
        Sample s;
        s.operands = {{DType::float32, {5, 8}, -3, 3, {}}};
        s.attributes = {{"levels", Floats{-1, 0.5, 2}}, {"absolute_of_input", absolute}};
        all.push_back(s);
        s.operands = {{DType::float16, {7}, 0, 0, {-1, 0.5, 2, -2, 0, 1, 5}}};
        all.push_back(s);
      }
      return all;
    },
    .popart_type = "Histogram",
    .subscripts = total_subscripts,
});

}  // namespace pando::ir
