// --cost compiled: what compiles stands in another program.
#pragma once

#include <memory>
#include <string>

#include "simulate/costs/cost_model.h"

namespace pando::cli {

// Prices of what ops of a program are compiled to, for a machine of tiles by name or for this host; `otherwise` is for those that cannot
// be. Null in `pando`, which has no compiler in it: `pando-measure` has, and takes the same command line.
std::unique_ptr<simulate::CostModel> compiled_costs(const simulate::CostModel& otherwise, const std::string& machine);

}  // namespace pando::cli
