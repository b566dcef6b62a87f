#include <fmt/format.h>

#include "profile/advice.h"
#include "profile/facts.h"
#include "profile/shares.h"
#include "profile/text.h"

namespace pando::profile {

namespace {

std::optional<Finding> find_exchange_buffers(const Report& report, const StepSums&) {
  if (report.tiles.empty() || report.target.bytes_per_tile == 0) return std::nullopt;
  const std::uint32_t tile = fullest_tile(report);
  double part = 0;
  for (std::size_t c = 0; c < report.categories.size(); ++c)
    if (report.categories[c].category == "exchange buffer") part = share(report.tiles[tile].by_category[c], report.target.bytes_per_tile);
  if (part < 0.1) return std::nullopt;
  Finding f{fmt::format("exchange buffers take {} of tile {}'s memory", percent_text(part), tile),
            "Operands of vertices do not lie on the vertex's tile in one piece, and are copied before the compute set runs. Map them where "
            "the vertices are.",
            part,
            {}};
  for (std::size_t i = 0; i < std::min<std::size_t>(report.buffers.size(), 3); ++i) {
    const BufferCause& b = report.buffers[i];
    f.evidence.push_back(
        {fmt::format("{}.{} of compute set '{}' reads '{}' in {} pieces: {} on {} tiles", b.codelet, b.field,
                     report.compute_sets[b.compute_set].name, b.variable, count_text(b.pieces), bytes_text(b.bytes), count_text(b.tiles)),
         {},
         {},
         {},
         {},
         b.compute_set});
  }
  return f;
}

}  // namespace

extern const AdviceRow advice_exchange_buffers;
constinit const AdviceRow advice_exchange_buffers = {"exchange_buffers", "bytes", "copies of operands take much of the fullest tile",
                                                     find_exchange_buffers};

}  // namespace pando::profile
