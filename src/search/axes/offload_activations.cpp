#include "search/axis.h"

namespace pando::search {

Axis axis_offload_activations() {
  Axis a = axis_of<&Strategy::offload_activations>(
      "offload-activations", "Activations go to the second memory after their last use of the forward pass", 23, 33, 0);
  a.flag = true;
  a.part = AxisPart::rest;
  a.trainers = "Megatron-LM --cpu-offloading-num-layers";
  a.domain = [](const AxisContext& c, const Strategy& s, Values& all) {
    all.push_back(0);
    if (c.space.reach == Reach::everything && c.cluster.far_bytes > 0 && !s.recomputes_all()) all.push_back(1);
  };
  a.rule = [](const StrategyFacts& f, const Strategy& s) {
    if (s.offload_activations && f.cluster.far_bytes == 0) return broken("offload", "the machine has no second memory");
    if (s.offload_activations && s.recomputes_all()) return broken("offload", "with full recomputation there are no activations to move");
    return Violation();
  };
  a.thriftiest = [](const AxisContext& c, const Strategy& s, Values& all) {
    all.push_back(c.space.reach == Reach::everything && c.cluster.far_bytes > 0 && !s.recomputes_all());
  };
  a.apply = [](const Transformer&, const Strategy& s, transform::Strategy& t) { t.offload_activations = s.offload_activations; };
  return a;
}

}  // namespace pando::search
