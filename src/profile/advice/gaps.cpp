#include <fmt/format.h>

#include "profile/advice.h"
#include "profile/facts.h"
#include "profile/shares.h"
#include "profile/text.h"

namespace pando::profile {

namespace {

std::optional<Finding> find_gaps(const Report& report, const StepSums&) {
  if (report.tiles.empty() || report.target.bytes_per_tile == 0) return std::nullopt;
  const std::uint32_t tile = fullest_tile(report);
  const TileMemory& t = report.tiles[tile];
  const double gaps = share(t.with_gaps > t.used ? t.with_gaps - t.used : 0, report.target.bytes_per_tile);
  if (gaps < 0.05) return std::nullopt;
  return Finding{
      fmt::format("{} of tile {}'s memory are gaps", percent_text(gaps), tile),
      "Variables that must lie together, in one memory element or in interleaved memory leave holes. Fewer such constraints, or smaller "
      "variables, fill them.",
      gaps,
      {{fmt::format("tile {}: {} in use, the highest address is {}", tile, bytes_text(t.used), bytes_text(t.with_gaps)), tile}}};
}

}  // namespace

extern const AdviceRow advice_gaps;
constinit const AdviceRow advice_gaps = {"gaps", "bytes", "memory of the fullest tile lies unused between its variables", find_gaps};

}  // namespace pando::profile
