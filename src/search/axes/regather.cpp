#include "search/axis.h"

namespace pando::search {

Axis axis_regather() {
  Axis a = axis_of<&Strategy::regather>(
      "regather", "Sequence parallelism gathers a layer's input again on the way back instead of keeping it whole", 16, 21, 0);
  a.flag = true;
  a.part = AxisPart::transfers;
  a.trainers = "Megatron-LM always does, torchtitan does not";
  a.domain = [](const SpaceFacts&, const Strategy& s, Values& all) {
    all.push_back(0);
    if (s.sequence_parallel && !recomputes_all(s)) all.push_back(1);
  };
  a.rule = [](const StrategyFacts&, const Strategy& s) {
    if (s.regather && (!s.sequence_parallel || recomputes_all(s)))
      return broken("regather", "only sequence-parallel inputs that are kept are gathered again");
    return Violation();
  };
  a.quickest = [](const SpaceFacts&, const Strategy& s) -> std::int64_t { return !recomputes_all(s); };
  a.thriftiest = [](const SpaceFacts&, const Strategy& s, Values& all) { all.push_back(!recomputes_all(s)); };
  a.missing = [](const Strategy& s) -> std::string_view { return s.regather ? "gathering a layer's input again on the way back" : ""; };
  return a;
}

}  // namespace pando::search
