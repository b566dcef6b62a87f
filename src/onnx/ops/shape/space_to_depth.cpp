#include "onnx/operator.h"

namespace pando::onnx {

extern const Operator onnx_space_to_depth;
constexpr Operator onnx_space_to_depth = {
    .signature = "SpaceToDepth(input; blocksize!: int, mode: text) -> output",
    .rule =
        [](Context& c) {
          const Shape s = c.shape_of(0);
          if (s.size() != 4) c.reject(fmt::format("operand 0 has {} dimensions; 4 are expected", s.size()));
          const std::int64_t b = c.ranged("blocksize", 1, 1, 1 << 20), h = s[2] / b, w = s[3] / b;
          if (h * b != s[2] || w * b != s[3]) c.reject(fmt::format("{} by {} elements are not a multiple of a block of {}", s[2], s[3], b));
          const bool dcr = c.word("mode", "DCR", {"DCR", "CRD"}) == "DCR";
          const ValueId apart = c.reshape(c.operand(0), {s[0], s[1], h, b, w, b});
          const ValueId turned = c.transpose(apart, dcr ? Ints{0, 3, 5, 1, 2, 4} : Ints{0, 1, 3, 5, 2, 4});
          c.give(c.op("reshape", {turned}, {{"shape", Ints{s[0], s[1] * b * b, h, w}}}));
        },
};

}  // namespace pando::onnx
