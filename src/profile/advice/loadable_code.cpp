#include <fmt/format.h>

#include "profile/advice.h"
#include "profile/facts.h"
#include "profile/shares.h"
#include "profile/text.h"

namespace pando::profile {

namespace {

std::optional<Finding> find_loadable_code(const Report& report, const StepSums&) {
  if (report.tiles.empty() || report.target.bytes_per_tile == 0) return std::nullopt;
  const std::uint32_t tile = fullest_tile(report);
  std::uint64_t code = 0;
  for (std::size_t c = 0; c < report.categories.size(); ++c)
    if (report.categories[c].category.ends_with(" code")) code += report.tiles[tile].by_category[c];
  const double part = share(code, report.target.bytes_per_tile);
  if (part < 0.2) return std::nullopt;
  return Finding{fmt::format("code takes {} of tile {}'s memory", percent_text(part), tile),
                 "Put parts of the program that seldom run into functions whose code is loaded when it is needed (FunctionBuffer), repeat "
                 "sequences in loops, "
                 "and use fewer different codelets.",
                 part,
                 {{fmt::format("tile {}: {} of code", tile, bytes_text(code)), tile}}};
}

}  // namespace

extern const AdviceRow advice_loadable_code;
constinit const AdviceRow advice_loadable_code = {"loadable_code", "bytes", "code takes much of the fullest tile", find_loadable_code};

}  // namespace pando::profile
