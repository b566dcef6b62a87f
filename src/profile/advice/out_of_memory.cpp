#include <fmt/format.h>

#include "profile/advice.h"
#include "profile/facts.h"
#include "profile/shares.h"
#include "profile/text.h"

namespace pando::profile {

namespace {

std::optional<Finding> find_out_of_memory(const Report& report, const StepSums&) {
  if (report.out_of_memory.empty() || report.tiles.empty()) return std::nullopt;
  const std::uint32_t tile = fullest_tile(report);
  const std::vector<std::string> changes = smallest_changes(report);
  Finding f{report.out_of_memory.substr(0, report.out_of_memory.find('\n')),
            changes.empty() ? std::string() : "The smallest change: " + changes[0] + ".",
            1,
            {}};
  if (const std::optional<std::uint32_t> order = fullest_order(report, tile))
    for (const auto& [index, bytes] : live_at(report, *order, tile)) {
      if (f.evidence.size() == 5) break;
      f.evidence.push_back({fmt::format("{} '{}': {} on tile {}", category_of(report, report.residents[index]),
                                        report.residents[index].name, bytes_text(bytes), tile),
                            tile,
                            *order,
                            {},
                            index});
    }
  for (std::size_t i = 1; i < changes.size(); ++i) f.evidence.push_back({"or: " + changes[i], tile});
  return f;
}

}  // namespace

extern const AdviceRow advice_out_of_memory;
constinit const AdviceRow advice_out_of_memory = {"out_of_memory", "bytes", "the program does not fit", find_out_of_memory};

}  // namespace pando::profile
