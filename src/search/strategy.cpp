#include "search/strategy.h"

#include "search/axis.h"

#include <fmt/format.h>

#include <algorithm>

namespace pando::search {

std::string_view name_of(Recompute r) { return axes_named("recompute", Spelling::brief)[0]->names[static_cast<std::size_t>(r)]; }
std::string_view name_of(Precision p) { return axes_named("precision", Spelling::brief)[0]->names[static_cast<std::size_t>(p)]; }
std::string_view name_of(PipelineSchedule s) { return kSchedules[static_cast<std::size_t>(s)]; }

PipelineSchedule schedule_of(const Strategy& s) {
  const auto found = std::ranges::find(kSchedules, s.schedule);
  return static_cast<PipelineSchedule>(found == kSchedules.end() ? 0 : found - kSchedules.begin());
}

// --- rules ------------------------------------------------------------------------------------------------------------------------------

namespace {

Violation network_violation(const simulate::Cluster& c, const Strategy& s) {
  const auto no = [](std::string rule, std::string message) { return Violation{std::move(rule), std::move(message)}; };
  if (c.levels.empty() && s.devices() > 1) return no("network", "the machine has no network");
  if (s.tensor_level < 0) {
    if (!c.levels.empty() && s.devices() > c.levels.back().devices) {
      return no("network", fmt::format("{} devices; the machine has {}", s.devices(), c.levels.back().devices));
    }
    return {};
  }
  std::vector<std::int64_t> size(c.levels.size(), 1);
  const auto use = [&](std::int8_t level, std::int64_t degree) {
    if (degree > 1 && level >= 0 && static_cast<std::size_t>(level) < size.size()) size[static_cast<std::size_t>(level)] *= degree;
    return level >= 0 && static_cast<std::size_t>(level) < size.size();
  };
  if (!use(s.tensor_level, std::int64_t{s.tensor} * s.context) || !use(s.pipeline_level, s.pipeline) || !use(s.data_level, s.data)) {
    return no("network", "there is no such level");
  }
  for (std::size_t l = 0; l < size.size(); ++l) {
    if (size[l] > c.levels[l].devices) {
      return no("network", fmt::format("{} devices on level {} ({}), which joins {}", size[l], l, c.levels[l].name, c.levels[l].devices));
    }
    if (l + 1 < size.size() && c.levels[l].devices % size[l] != 0) {
      return no("network", fmt::format("{} devices do not fill units of {} on level {}", size[l], c.levels[l].devices, l));
    }
  }
  return {};
}

}  // namespace

Violation first_violation(const StrategyFacts& facts, const Strategy& s, AxisPart from) {
  for (const Axis* a : predicted_axes()) {
    if (a->rule == nullptr || a->part < from) continue;
    if (Violation v = a->rule(facts, s)) return v;
  }
  return network_violation(facts.cluster, s);
}

}  // namespace pando::search
