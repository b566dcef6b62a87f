#include "simulate/costs/messages.h"

#include <algorithm>

namespace pando::simulate {

void add_messages(const Body& body, const Step& step, const std::vector<std::int32_t>& map, double sent, double received,
                  std::vector<Message>& out) {
  const auto operands = body.operands_of(step), results = body.results_of(step);
  if (step.kind != StepKind::transfer || operands.empty() || results.empty()) return;
  const auto device = [&](SlotId s) { return map[body.slots[s].device]; };
  const auto add = [&](SlotId from, SlotId to, SlotId what) {
    out.push_back({step.label, device(from), device(to), body.slots[what].bytes, sent, received});
  };
  if (results.size() == 1) {
    for (const SlotId o : operands)
      if (device(o) != device(results[0])) add(o, results[0], o);
    return;
  }
  for (const SlotId r : results)
    if (std::none_of(operands.begin(), operands.end(), [&](SlotId o) { return device(o) == device(r); })) add(operands[0], r, r);
}

}  // namespace pando::simulate
