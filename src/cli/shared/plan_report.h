// Plans as reports (profile/plan/plan.h): what `--report FILE` of search and simulate writes.
#pragma once

#include <string>

#include "ir/module.h"
#include "profile/plan/plan.h"
#include "search/report.h"
#include "search/timeline.h"
#include "simulate/simulate.h"

namespace pando::cli {

// When the devices of a module's program do what, what their memory holds, what they send, and where the module's inputs lie.
void add_timeline(profile::DevicePlan& plan, const ir::Module& module, const simulate::Program& program, const simulate::Timeline& timeline,
                  const std::vector<simulate::DeviceMemory>& memory);
// The same of a transformer's step: one device of each rank of the pipeline. With experts only how long it takes.
void add_step(profile::DevicePlan& plan, const search::StrategyFacts& facts, const search::Strategy& strategy);

// The best and the frontier.
void add_points(profile::DevicePlan& plan, const search::Report& report);

// Throws poplar_error if it cannot be written.
void write_plan(const profile::DevicePlan& plan, const std::string& file);

}  // namespace pando::cli
