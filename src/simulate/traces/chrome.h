// Predicted runs in traces for browsers (base/text/chrome_trace.h): a process for each device, what computes and what transfers beside each
// other.
#pragma once

#include "base/text/chrome_trace.h"
#include "simulate/program.h"
#include "simulate/simulate.h"

#include <cstdint>
#include <string_view>

namespace pando::simulate {

void name_device(std::int64_t process, std::string_view name, ChromeTrace& trace);
void add_to_trace(const Program& program, const Timeline& timeline, ChromeTrace& trace);

}  // namespace pando::simulate
