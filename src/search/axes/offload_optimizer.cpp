#include "search/axis.h"

namespace pando::search {

Axis axis_offload_optimizer() {
  Axis a = axis_of<&Strategy::offload_optimizer>("offload-optimizer", "The optimizer's states lie in the second memory", 24, 34, 0);
  a.flag = true;
  a.part = AxisPart::rest;
  a.trainers = "DeepSpeed zero_optimization.offload_optimizer, Megatron-LM --optimizer-cpu-offload";
  a.domain = [](const AxisContext& c, const Strategy&, Values& all) {
    all.push_back(0);
    if (c.space.reach == Reach::everything && c.cluster.far_bytes > 0) all.push_back(1);
  };
  a.rule = [](const StrategyFacts& f, const Strategy& s) {
    if (s.offload_optimizer && f.cluster.far_bytes == 0) return broken("offload", "the machine has no second memory");
    return Violation();
  };
  a.thriftiest = [](const AxisContext& c, const Strategy&, Values& all) {
    all.push_back(c.space.reach == Reach::everything && c.cluster.far_bytes > 0);
  };
  a.apply = [](const Transformer&, const Strategy& s, transform::Strategy& t) { t.offload_optimizer = s.offload_optimizer; };
  return a;
}

}  // namespace pando::search
