#include "onnx/operator.h"

namespace pando::onnx {

extern const Operator onnx_split;
constexpr Operator onnx_split = {
    .signature = "Split(input, split?; axis: int, num_outputs: int, split: ints) -> outputs...",
    .rule =
        [](Context& c) {
          const std::int64_t axis = c.axis(0, c.rank_of(0)), size = c.shape_of(0)[static_cast<std::size_t>(axis)];
          const auto n = static_cast<std::int64_t>(c.node.outputs.size());
          if (n == 0) c.reject("it has no results");
          std::optional<Ints> pieces = c.either("split", 1);
          if (c.integer("num_outputs", n) != n)
            c.reject(fmt::format("attribute 'num_outputs' is {}; it has {} results", c.integer("num_outputs", n), n));
          if (!pieces) {
            const std::int64_t each = (size + n - 1) / n;
            if (!c.has("num_outputs") && size % n != 0) c.reject(fmt::format("{} elements are not cut into {} equal pieces", size, n));
            pieces.emplace();
            for (std::int64_t i = 0, left = size; i < n; ++i, left -= pieces->back())
              pieces->push_back(std::clamp<std::int64_t>(left, 0, each));
          }
          if (static_cast<std::int64_t>(pieces->size()) != n) c.reject(fmt::format("{} lengths for {} results", pieces->size(), n));
          std::int64_t left = size;
          for (std::int64_t p : *pieces) {
            if (p < 0 || p > left)
              c.reject(fmt::format("the lengths {} are not those of pieces of {} elements", ir::to_string(*pieces), size));
            left -= p;
          }
          if (left != 0) c.reject(fmt::format("the lengths {} are not those of pieces of {} elements", ir::to_string(*pieces), size));
          std::int64_t start = 0;
          for (std::int64_t p : *pieces) {
            c.give(p == size ? c.op("identity", {c.operand(0)}) : c.slice(c.operand(0), axis, start, p));
            start += p;
          }
        },
};

}  // namespace pando::onnx
