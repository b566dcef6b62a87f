// What questions, advice and comparisons ask of a report.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "profile/report.h"

namespace pando::profile {

// Of all tiles: the one that is fullest with gaps; the lowest of several. 0 without tiles.
std::uint32_t fullest_tile(const Report& report);
// The step at which most bytes are live on the fullest tile of it, over all streams; none without liveness.
struct Peak {
  std::uint32_t order = 0, tile = 0;
  std::uint64_t tile_bytes = 0, live_bytes = 0;  // on that tile, always live included; over the stream's tiles, always live left out
  std::string stream, step;
};
std::optional<Peak> peak_of(const Report& report);

// The step (order) at which most of a tile is in use; the first of several. Where all that it has is always live, or nothing says what it
// has, that of the peak; none without liveness, too.
std::optional<std::uint32_t> fullest_order(const Report& report, std::uint32_t tile);

bool is_live(const Report& report, const Placement& placement, std::uint32_t order);
// The placements of a tile: [first, last) in Report::placements.
std::pair<std::size_t, std::size_t> placements_of(const Report& report, std::uint32_t tile);

// Residents with their bytes, largest first; of the same bytes by number.
using Residents = std::vector<std::pair<std::uint32_t, std::uint64_t>>;
// What is live at a step: on one tile, or on all.
Residents live_at(const Report& report, std::uint32_t order, std::optional<std::uint32_t> tile);

// "name:line" of a row of sources, from 1; "" for 0.
std::string source_text(const Report& report, std::uint32_t source);
// Of several rows, without repetition, with commas between; more than eight: "and N more".
std::string sources_text(const Report& report, const std::vector<std::uint32_t>& sources);
// The rows of `sources` of a part of the program: of copies that are one exchange several.
std::vector<std::uint32_t> sources_of(const ProgramStep& part);
// The part of the program that a step executes: an index in Report::program from 1; 0: it has none, as a step of control.
std::uint32_t part_of(const Report& report, const StepCycles& step);
// ... of a step: those of its part of the program. Empty: not known.
std::vector<std::uint32_t> sources_of(const Report& report, const StepCycles& step);
// Where a codelet is defined; "": not known.
std::string defined_text(const Report& report, const std::string& codelet);
const std::string& category_of(const Report& report, const Resident& resident);
// How long a step takes by each clock, in seconds; nothing where that is not known.
struct Clocks {
  std::optional<double> predicted, modelled, host;
  std::string of;       // what the last two are of: "run 2, of program 0"
  std::string why_not;  // there is no prediction
};
// Of a plan of what ran: its step. Of others: the last run of the program that takes most cycles.
Clocks clocks_of(const Report& report);
// "predicted 12 us, modelled 14 us, host 3 ms".
std::string clocks_text(const Clocks& clocks);

// Why a report has no schedule and no messages of devices, and what gives them.
std::string no_devices_text(const Report& report);

// Of a debug path the operation: the first `depth` names.
std::string operation_of(const std::string& path, std::size_t depth);
// Cycles of a step in which the mean tile waits for the slowest one.
std::uint64_t lost_to_imbalance(const StepCycles& step);

}  // namespace pando::profile
