// What several parts of pva ask of a report.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/interval.h"
#include "profile/report.h"

namespace pando::facade {

// Of ranges begin, end, number ... the number of each tile, 0 elsewhere; empty for none.
std::vector<std::uint64_t> by_tile(const profile::Report& report, const std::vector<std::uint64_t>& ranges);
// Cycles of the tiles of an interval at one execution of a step, waiting left out. Of all tiles without an interval.
std::vector<std::uint64_t> cycles_by_tile(const profile::Report& report, const profile::StepCycles& step,
                                          std::optional<Interval> tiles = std::nullopt);
// Null if the report does not know it.
const profile::BlockStream* stream_of(const profile::Report& report, const profile::StepCycles& step);
// The tiles of an IPU.
Interval tiles_of(const profile::Report& report, std::size_t ipu);
// The number of an IPU. Throws index_error if the report does not have it.
std::size_t checked_ipu(const profile::Report& report, unsigned ipu, const char* what);
// Whether it is a step, with memory of its own: not what stands around steps, or a call.
bool has_memory(const profile::ProgramStep& part);
// The half-open ranges of a stream's tiles.
std::vector<Interval> ranges_of(const profile::BlockStream& stream);
// The tile. Throws index_error if the report does not have it.
std::uint32_t checked_tile(const profile::Report& report, unsigned tile, const char* what);

}  // namespace pando::facade
