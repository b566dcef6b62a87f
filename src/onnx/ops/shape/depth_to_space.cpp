#include "onnx/operator.h"

namespace pando::onnx {

extern const Operator onnx_depth_to_space;
constexpr Operator onnx_depth_to_space = {
    .signature = "DepthToSpace(input; blocksize!: int, mode: text) -> output",
    .rule =
        [](Context& c) {
          const Shape s = c.shape_of(0);
          if (s.size() != 4) c.reject(fmt::format("operand 0 has {} dimensions; 4 are expected", s.size()));
          const std::int64_t b = c.ranged("blocksize", 1, 1, 1 << 20), depth = s[1] / (b * b);
          if (depth * b * b != s[1]) c.reject(fmt::format("{} channels are not a multiple of the block's {}", s[1], b * b));
          const bool dcr = c.word("mode", "DCR", {"DCR", "CRD"}) == "DCR";
          const ValueId apart = c.reshape(c.operand(0), dcr ? Shape{s[0], b, b, depth, s[2], s[3]} : Shape{s[0], depth, b, b, s[2], s[3]});
          const ValueId turned = c.transpose(apart, dcr ? Ints{0, 3, 4, 1, 5, 2} : Ints{0, 1, 4, 2, 5, 3});
          c.give(c.op("reshape", {turned}, {{"shape", Ints{s[0], depth, s[2] * b, s[3] * b}}}));
        },
};

}  // namespace pando::onnx
