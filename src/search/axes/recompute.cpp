#include "search/axis.h"

namespace pando::search {

Axis axis_recompute() {
  Axis a = axis_of<&Strategy::recompute>("recompute", "Activations that the backward pass computes again instead of keeping them", 9, 9, 0);
  a.names = {"none", "selective", "full", "alternate"};
  a.old_names = {"none", "attention"};
  a.on_demand = true;
  a.outside = "recompute=alternate (torchtitan's SelectiveAC alone has it: demand it, with --stack torchtitan)";
  a.trainers = "Megatron-LM --recompute-granularity, torchtitan's classes of activation checkpointing, DeepSpeed activation_checkpointing";
  a.domain = [](const AxisContext&, const Strategy&, Values& all) {
    for (Recompute r : {Recompute::full, Recompute::selective, Recompute::none}) all.push_back(static_cast<std::int64_t>(r));
  };
  a.missing = [](const Strategy& s) -> std::string_view {
    return s.recompute == Recompute::alternate ? "computing every other product again" : "";
  };
  return a;
}

}  // namespace pando::search
