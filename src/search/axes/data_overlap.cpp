#include "search/axis.h"

namespace pando::search {

Axis axis_data_overlap() {
  Axis a = axis_of<&Strategy::data_overlap>("data-overlap", "Gradients are reduced beside the last backward pass", 17, 31, 0);
  a.flag = true;
  a.part = AxisPart::rest;
  a.trainers = "Megatron-LM --overlap-grad-reduce, DeepSpeed overlap_comm, torchtitan always";
  a.domain = [](const SpaceFacts&, const Strategy& s, Values& all) {
    all.push_back(0);
    if (replicas_of(s) > 1) all.push_back(1);
  };
  a.rule = [](const StrategyFacts&, const Strategy& s) {
    if (replicas_of(s) == 1 && s.data_overlap) return broken("data", "nothing to overlap at d=1");
    return Violation();
  };
  a.missing = [](const Strategy& s) -> std::string_view { return s.data_overlap ? "gradients reduced beside the last backward pass" : ""; };
  return a;
}

}  // namespace pando::search
