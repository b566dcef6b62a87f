#include "search/axis.h"

namespace pando::search {

Axis axis_offload_activations() {
  Axis a = offload_axis<&Strategy::offload_activations>(
      "offload-activations", "Activations go to the second memory after their last use of the forward pass", 23, 33);
  a.trainers = "Megatron-LM --cpu-offloading-num-layers";
  // Where all is computed again, there are none.
  a.thriftiest = [](const SpaceFacts& c, const Strategy& s, Values& all) { all.push_back(may_offload(c) && !recomputes_all(s)); };
  a.domain = [](const SpaceFacts& c, const Strategy& s, Values& all) {
    all.push_back(0);
    if (may_offload(c) && !recomputes_all(s)) all.push_back(1);
  };
  a.rule = [](const StrategyFacts& f, const Strategy& s) {
    if (s.offload_activations && f.cluster.far_bytes == 0) return broken("offload", "the machine has no second memory");
    if (s.offload_activations && recomputes_all(s)) return broken("offload", "with full recomputation there are no activations to move");
    return Violation();
  };
  return a;
}

}  // namespace pando::search
