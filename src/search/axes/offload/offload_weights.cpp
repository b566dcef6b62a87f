#include "search/axis.h"

namespace pando::search {

Axis axis_offload_weights() {
  Axis a = offload_axis<&Strategy::offload_weights>("offload-weights",
                                                    "Weights lie in the second memory (of the host, say) and come for each pass", 22, 32);
  a.trainers = "DeepSpeed zero_optimization.offload_param";
  a.outside =
      "offload of weights, activations, optimizer (DeepSpeed and Megatron-LM do not offload beside a pipeline, and rates of the second "
      "memory are assumed)";
  return a;
}

}  // namespace pando::search
