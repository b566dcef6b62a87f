#include "onnx/operator.h"

namespace pando::onnx {

extern const Operator onnx_reverse_sequence;
constexpr Operator onnx_reverse_sequence = {
    .signature = "ReverseSequence(input, sequence_lens; batch_axis: int, time_axis: int) -> Y",
    .rule =
        [](Context& c) {
          const std::int64_t batch = c.ranged("batch_axis", 1, 0, 1), time = c.ranged("time_axis", 0, 0, 1);
          if (c.rank_of(0) < 2 || batch == time) c.reject("'batch_axis' and 'time_axis' are 0 and 1, of two dimensions or more");
          Shape s = c.shape_of(0);
          const std::int64_t n = s[static_cast<std::size_t>(time)], batches = s[static_cast<std::size_t>(batch)];
          if (c.shape_of(1) != Shape{batches})
            c.reject(fmt::format("lengths of shape {} for {} batches", ir::to_string(c.shape_of(1)), batches));
          // Position i of a sequence of length l comes from l - 1 - i, behind it from itself.
          Ints positions;
          for (std::int64_t i = 0; i < n; ++i) positions.push_back(i);
          const ValueId i = c.reshape(c.integers(positions), time == 0 ? Shape{n, 1} : Shape{1, n});
          const ValueId length = c.reshape(c.cast(c.operand(1), DType::int32), time == 0 ? Shape{1, batches} : Shape{batches, 1});
          const ValueId back = c.op("sub", {c.op("sub", {length, c.scalar(DType::int32, 1)}), i});
          ValueId at = c.where(c.op("less", {i, length}), back, c.expand(i, c.shape(back)));
          Shape beside(s.size(), 1);
          beside[0] = s[0];
          beside[1] = s[1];
          c.give(c.op("gather_elements", {c.operand(0), c.expand(c.reshape(at, beside), s)}, {{"axis", time}}));
        },
};

}  // namespace pando::onnx
