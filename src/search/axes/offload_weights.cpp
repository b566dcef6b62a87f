#include "search/axis.h"

namespace pando::search {

Axis axis_offload_weights() {
  Axis a = axis_of<&Strategy::offload_weights>("offload-weights",
                                               "Weights lie in the second memory (of the host, say) and come for each pass", 22, 32, 0);
  a.flag = true;
  a.part = AxisPart::rest;
  a.trainers = "DeepSpeed zero_optimization.offload_param";
  a.outside =
      "offload of weights, activations, optimizer (DeepSpeed and Megatron-LM do not offload beside a pipeline, and rates of the second "
      "memory are assumed)";
  a.domain = [](const AxisContext& c, const Strategy&, Values& all) {
    all.push_back(0);
    if (c.space.reach == Reach::everything && c.cluster.far_bytes > 0) all.push_back(1);
  };
  a.rule = [](const StrategyFacts& f, const Strategy& s) {
    if (s.offload_weights && f.cluster.far_bytes == 0) return broken("offload", "the machine has no second memory");
    return Violation();
  };
  a.thriftiest = [](const AxisContext& c, const Strategy&, Values& all) {
    all.push_back(c.space.reach == Reach::everything && c.cluster.far_bytes > 0);
  };
  a.apply = [](const Transformer&, const Strategy& s, transform::Strategy& t) { t.offload_weights = s.offload_weights; };
  return a;
}

}  // namespace pando::search
