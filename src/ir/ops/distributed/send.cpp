#include "ir/rows/define.h"
#include "ir/shared/tuples.h"

namespace pando::ir {

extern const OpRow op_send;
constexpr OpRow op_send = checked({
    .name = "send",
    .doc = "A tensor on another device.",
    .operands = {{{"t"}}},
    .attributes = {{{"device", AttributeKind::integer}}},
    .infer = [](Inference& in) {
      if (in.attributes().integer("device") < 0) in.reject("device-number", "there is no device {}", in.attributes().integer("device"));
      in.result(on_device(in.operand(0), in.attributes().integer("device")));
    },
    .reference = [](Evaluation& e) {
      e.result(e.operand(0));
    },
    .expand = [](Expansion& e) {
      e.result(moved(e, e.operand(0), e.attributes().integer("device")));
    },
    .in_program_only = true,
    .moves = true,
    .whole = "devices meet in it: the program says where its operands lie",
    .traffic = Traffic::send,
});

}  // namespace pando::ir
