#include "onnx/operator.h"

namespace pando::onnx {

extern const Operator onnx_slice;
constexpr Operator onnx_slice = {
    .signature = "Slice(data, starts?, ends?, axes?, steps?; starts: ints, ends: ints, axes: ints) -> output",
    .rule =
        [](Context& c) {
          const Shape in = c.shape_of(0);
          const std::optional<Ints> starts = c.either("starts", 1), ends = c.either("ends", 2);
          if (!starts || !ends || starts->size() != ends->size()) c.reject("'starts' and 'ends' are not of one length");
          std::optional<Ints> axes = c.axes("axes", 3, in.size());
          const Ints steps = c.has(4) ? c.integers(4) : Ints(starts->size(), 1);
          if (!axes) {
            axes.emplace();
            for (std::size_t i = 0; i < starts->size(); ++i) axes->push_back(c.axis_in(static_cast<std::int64_t>(i), in.size()));
          }
          if (axes->size() != starts->size() || steps.size() != starts->size())
            c.reject("'axes' or 'steps' are not of the length of 'starts'");
          ValueId v = c.operand(0);
          for (std::size_t i = 0; i < starts->size(); ++i) {
            const std::int64_t n = in[static_cast<std::size_t>((*axes)[i])];
            // No tensor is longer than this, and negating it does not overflow.
            const std::int64_t step = std::clamp<std::int64_t>(steps[i], -(std::int64_t{1} << 40), std::int64_t{1} << 40);
            if (step == 0) c.reject("a step of 0");
            // Backwards, a start in front of the first element is the first element, an end there lies in front of it.
            const auto clamped = [&](std::int64_t at, std::int64_t low, std::int64_t high) {
              return n == 0 ? 0 : std::clamp<std::int64_t>(at < 0 ? std::max<std::int64_t>(at, -n - 1) + n : at, low, high);
            };
            const bool back = step < 0;
            const std::int64_t start = clamped((*starts)[i], 0, back ? n - 1 : n),
                               end = clamped((*ends)[i], back ? -1 : 0, back ? n - 1 : n);
            const std::int64_t span = step > 0 ? end - start : start - end, far = step > 0 ? step : -step;
            v = c.slice(v, (*axes)[i], span <= 0 ? 0 : start, span <= 0 ? 0 : (span + far - 1) / far, span <= 0 ? 1 : step);
          }
          c.give(v == c.operand(0) ? c.op("identity", {v}) : v);
        },
};

}  // namespace pando::onnx
