#include "search/axis.h"

namespace pando::search {

Axis axis_overlap() {
  Axis a = axis_of<&Strategy::tensor_overlap>("overlap", "Transfers of tensor parallelism beside the products that they feed or follow", 12,
                                              22, 0);
  a.part = AxisPart::transfers;
  a.names = {"none", "ring", "pipe"};
  a.trainers = "Megatron-LM --tp-comm-overlap, torchtitan's asynchronous tensor parallelism";
  a.domain = [](const SpaceFacts&, const Strategy& s, Values& all) {
    all.push_back(static_cast<std::int64_t>(TensorOverlap::none));
    if (s.tensor == 1) return;
    all.push_back(static_cast<std::int64_t>(TensorOverlap::ring));
    all.push_back(static_cast<std::int64_t>(TensorOverlap::pipe));
  };
  a.rule = [](const StrategyFacts&, const Strategy& s) {
    if (s.tensor == 1 && s.tensor_overlap != TensorOverlap::none) return broken("overlap", "nothing to overlap at t=1");
    return Violation();
  };
  a.missing = [](const Strategy& s) -> std::string_view {
    return s.tensor_overlap != TensorOverlap::none ? "tensor-parallel transfers beside products" : "";
  };
  return a;
}

}  // namespace pando::search
