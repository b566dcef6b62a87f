#include "search/axis.h"

namespace pando::search {

Axis axis_offload_optimizer() {
  Axis a = offload_axis<&Strategy::offload_optimizer>("offload-optimizer", "The optimizer's states lie in the second memory", 24, 34);
  a.trainers = "DeepSpeed zero_optimization.offload_optimizer, Megatron-LM --optimizer-cpu-offload";
  return a;
}

}  // namespace pando::search
