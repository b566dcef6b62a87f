#include "ir/rows/define.h"

namespace pando::ir {

extern const OpRow op_ipu_copy;
constexpr OpRow op_ipu_copy = checked({
    .name = "ipu_copy",
    .doc = "The same contents on another device of the replica.",
    .signature = "ipu_copy(t: Tensor, destination: int, source: Optional[int]=None) -> Tensor",
    .operands = {{{"t"}}},
    .attributes = {{{"destination", AttributeKind::integer}, {"source", AttributeKind::integer}}},
    .infer = [](Inference& in) {
      const std::int64_t source = in.attributes().integer("source"), destination = in.attributes().integer("destination");
      if (destination < 0 || destination > 65535)
        in.reject("copy-destination", "there is no device {}; 0 to 65535 are possible", destination);
      Type t = in.operand(0);
      if (t.place.device.known() && !t.place.device.is_variable() && t.place.device.value != source) {
        in.reject("copy-source", "the tensor lies on device {}, the source is said to be {}", t.place.device.value, source);
      }
      t.place.device = Device::numbered(static_cast<std::int32_t>(destination));
      in.result(std::move(t));
    },
    .reference = [](Evaluation& e) { e.result(e.operand(0)); },
    .samples = [] {
      Sample s;
      s.operands = {{DType::float32, {2, 3}, -2, 2, {}}};
      s.attributes = {{"source", std::int64_t{0}}, {"destination", std::int64_t{1}}};
      return std::vector{s};
    },
    .moves = true,
    .popart_type = "IpuCopy",
    .whole = "devices meet in it: the program says where its operands lie",
    .traffic = Traffic::send,
});

}  // namespace pando::ir
