#include "ir/rows/define.h"
#include "ir/shared/tuples.h"

namespace pando::ir {

extern const OpRow op_broadcast_across;
constexpr OpRow op_broadcast_across = checked({
    .name = "broadcast_across",
    .doc = "A copy of a tensor on each of `devices`.",
    .operands = {{{"t"}}},
    .attributes = {{{"devices", AttributeKind::ints}}},
    .infer = [](Inference& in) {
      std::vector<Type> copies;
      for (std::int64_t d : devices_of(in)) copies.push_back(on_device(in.operand(0), d));
      tuple_result(in, std::move(copies));
    },
    .reference = [](Evaluation& e) {
      e.result(tuple_of(std::vector<HostTensor>(e.attributes().ints("devices").size(), e.operand(0))));
    },
    .expand = [](Expansion& e) {
      std::vector<ValueId> copies;
      for (std::int64_t d : e.attributes().ints("devices")) copies.push_back(moved(e, e.operand(0), d));
      give_tuple(e, copies);
    },
    .in_program_only = true,
    .moves = true,
    .whole = "devices meet in it: the program says where its operands lie",
    .traffic = Traffic::broadcast,
});

}  // namespace pando::ir
