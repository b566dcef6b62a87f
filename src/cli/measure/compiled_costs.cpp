// What pando-measure has and pando has not (cli/shared/compiled_costs.h).
#include "cli/shared/compiled_costs.h"

#include "pricing/compiled_costs.h"

namespace pando::cli {

std::unique_ptr<simulate::CostModel> compiled_costs(const simulate::CostModel& otherwise, const std::string& machine) {
  return std::make_unique<pricing::CompiledCostModel>(otherwise, pricing::runner_of(machine, otherwise.cluster()));
}

}  // namespace pando::cli
