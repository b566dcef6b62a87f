// The sections of the text report, one function each; summary.cpp calls them in order.
#pragma once

#include <iosfwd>

#include "profile/report.h"

namespace pando::profile {

void print_plan_section(const DevicePlan& plan, std::ostream& out);
void print_target_section(const Report& report, std::ostream& out);
void print_graph_section(const Report& report, std::ostream& out);
void print_memory_section(const Report& report, const SummaryOptions& options, std::ostream& out);
void print_liveness_section(const Report& report, std::ostream& out);
void print_execution_section(const Report& report, const SummaryOptions& options, std::ostream& out);

}  // namespace pando::profile
