// Predicted steps in reports of runs, where the viewer shows them beside the clocks of the machine and of the host.
#pragma once

#include "ir/module.h"
#include "profile/plan/plan.h"
#include "simulate/program.h"
#include "simulate/simulate.h"

#include <cstdint>
#include <string>

namespace pando::simulate {

// A timeline that was run with record_events. `costs`: what the prices come from, in lines.
profile::DevicePlan prediction(const Program& program, const Timeline& timeline, const std::string& machine, const std::string& costs);

// A step of a placed module on IPUs of a machine ("ipu2"), of `tiles` tiles or, if 0, the machine's, by formulas. Of a module that the
// simulation rejects the plan has no devices, and its text says why.
profile::DevicePlan prediction(const ir::Module& module, const std::string& machine, std::int64_t tiles);

// Puts a prediction into a report file, in place of one that it has. Throws parse_error: no report; file_load_error, poplar_error: it
// cannot be read or written.
void add_prediction(const std::string& report_file, const profile::DevicePlan& prediction);

}  // namespace pando::simulate
