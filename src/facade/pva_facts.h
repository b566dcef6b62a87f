// What several parts of pva ask of a report.
#pragma once

#include <cstdint>
#include <vector>

#include "profile/report.h"

namespace pando::facade {

// Of ranges begin, end, number ... the number of each tile, 0 elsewhere; empty for none.
std::vector<std::uint64_t> by_tile(const profile::Report& report, const std::vector<std::uint64_t>& ranges);
// The tile. Throws index_error if the report does not have it.
std::uint32_t checked_tile(const profile::Report& report, unsigned tile, const char* what);

}  // namespace pando::facade
