// Products and convolutions priced as the op libraries' planners would cut them over an IPU's tiles (src/planning); another model for the
// rest.
#pragma once

#include "machine/machine.h"
#include "simulate/costs/cost_model.h"

namespace pando::simulate {

class PlannedCostModel : public CostModel {
 public:
  // `machine`: a device.
  PlannedCostModel(const CostModel& otherwise, Machine machine) : otherwise_(otherwise), machine_(std::move(machine)) {}
  double seconds(const ir::Module& module, ir::OpId op) const override;
  std::string label(const ir::Module& module, ir::OpId op) const override { return otherwise_.label(module, op); }
  bool views_are_free() const override { return otherwise_.views_are_free(); }
  bool keeps_outputs() const override { return otherwise_.keeps_outputs(); }
  const Cluster* cluster() const override { return otherwise_.cluster(); }

 private:
  const CostModel& otherwise_;
  Machine machine_;
};

}  // namespace pando::simulate
