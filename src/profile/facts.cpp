#include "profile/facts.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "profile/text.h"

namespace pando::profile {

std::uint32_t fullest_tile(const Report& report) {
  std::uint32_t best = 0;
  for (std::uint32_t t = 0; t < report.tiles.size(); ++t)
    if (report.tiles[t].with_gaps > report.tiles[best].with_gaps) best = t;
  return best;
}

std::optional<Peak> peak_of(const Report& report) {
  std::optional<Peak> peak;
  for (const StreamLiveness& stream : report.liveness)
    for (const LiveStep& s : stream.steps)
      if (!peak || s.worst_tile_bytes > peak->tile_bytes)
        peak = Peak{s.order, s.worst_tile, s.worst_tile_bytes, s.live_bytes, stream.stream, s.name};
  return peak;
}

bool is_live(const Report& report, const Placement& p, std::uint32_t order) {
  if (p.live == 0) return true;
  for (const auto& [begin, end] : report.live_sets[p.live - 1])
    if (begin <= order && order < end) return true;
  return false;
}

std::pair<std::size_t, std::size_t> placements_of(const Report& report, std::uint32_t tile) {
  const auto less = [](const Placement& p, std::uint32_t t) { return p.tile < t; };
  const auto begin = std::lower_bound(report.placements.begin(), report.placements.end(), tile, less);
  const auto end = std::lower_bound(begin, report.placements.end(), tile + 1, less);
  return {static_cast<std::size_t>(begin - report.placements.begin()), static_cast<std::size_t>(end - report.placements.begin())};
}

std::optional<std::uint32_t> fullest_order(const Report& report, std::uint32_t tile) {
  std::map<std::uint32_t, std::int64_t> change;  // of the bytes in use, by order
  const auto [first, last] = placements_of(report, tile);
  for (std::size_t i = first; i < last; ++i) {
    const Placement& p = report.placements[i];
    if (p.live == 0) continue;
    for (const auto& [begin, end] : report.live_sets[p.live - 1]) {
      change[begin] += static_cast<std::int64_t>(p.size);
      change[end] -= static_cast<std::int64_t>(p.size);
    }
  }
  std::optional<std::uint32_t> best;
  std::int64_t most = 0, now = 0;
  for (const auto& [order, bytes] : change)
    if ((now += bytes) > most) most = now, best = order;
  if (best) return best;
  const std::optional<Peak> peak = peak_of(report);
  return peak ? std::optional(peak->order) : std::nullopt;
}

Residents live_at(const Report& report, std::uint32_t order, std::optional<std::uint32_t> tile) {
  std::vector<std::uint64_t> bytes(report.residents.size());
  const auto [begin, end] = tile ? placements_of(report, *tile) : std::pair<std::size_t, std::size_t>(0, report.placements.size());
  for (std::size_t i = begin; i < end; ++i)
    if (is_live(report, report.placements[i], order)) bytes[report.placements[i].resident] += report.placements[i].size;
  Residents out;
  for (std::uint32_t r = 0; r < bytes.size(); ++r)
    if (bytes[r] > 0) out.emplace_back(r, bytes[r]);
  std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  return out;
}

std::string source_text(const Report& report, std::uint32_t source) {
  if (source == 0 || source > report.sources.size()) return {};
  return fmt::format("{}:{}", report.sources[source - 1].file, report.sources[source - 1].line);
}

std::string sources_text(const Report& report, const std::vector<std::uint32_t>& sources) {
  constexpr std::size_t kMost = 8;
  std::vector<std::string> texts;
  for (const std::uint32_t row : sources)
    if (const std::string text = source_text(report, row); !text.empty() && std::find(texts.begin(), texts.end(), text) == texts.end())
      texts.push_back(text);
  const std::size_t more = texts.size() > kMost ? texts.size() - kMost : 0;
  texts.resize(texts.size() - more);
  return fmt::format("{}{}", fmt::join(texts, ", "), more > 0 ? fmt::format(" and {} more", more) : "");
}

std::vector<std::uint32_t> sources_of(const ProgramStep& part) {
  std::vector<std::uint32_t> out = part.other_sources;
  if (part.source > 0) out.insert(out.begin(), part.source);
  return out;
}

std::uint32_t part_of(const Report& report, const StepCycles& step) {
  if (step.part > 0) return step.part;
  const auto less = [](const ProgramStep& p, std::uint32_t order) { return p.order < order; };
  auto it = std::lower_bound(report.program.begin(), report.program.end(), step.order, less);
  while (it != report.program.end() && it->order == step.order && it->kind != step.kind) ++it;
  return it == report.program.end() || it->order != step.order ? 0 : static_cast<std::uint32_t>(it - report.program.begin()) + 1;
}

std::vector<std::uint32_t> sources_of(const Report& report, const StepCycles& step) {
  const std::uint32_t part = part_of(report, step);
  return part == 0 ? std::vector<std::uint32_t>() : sources_of(report.program[part - 1]);
}

std::string defined_text(const Report& report, const std::string& codelet) {
  const auto it = report.codelet_sources.find(codelet);
  return it == report.codelet_sources.end() ? "" : source_text(report, it->second);
}

namespace {

// The last run of the program whose runs take most cycles; null without runs.
const RunTimes* main_run(const Report& report) {
  const RunTimes* longest = nullptr;
  for (const RunTimes& r : report.run_times)
    if (longest == nullptr || r.end - r.begin > longest->end - longest->begin) longest = &r;
  for (const RunTimes& r : report.run_times)
    if (r.program == longest->program) longest = &r;
  return longest;
}

}  // namespace

Clocks clocks_of(const Report& report) {
  Clocks c;
  if (!report.predicted.devices.empty())
    c.predicted = report.predicted.seconds;
  else
    c.why_not = report.predicted.text.empty() ? "predictions are of programs at the model level (PopXL, pando run)" : report.predicted.text;
  while (!c.why_not.empty() && c.why_not.back() == '\n') c.why_not.pop_back();
  if (!report.plan.devices.empty()) {
    double host = 0;
    for (const PlanEvent& e : report.plan.events) host = std::max(host, e.host_begin + e.host_seconds);
    c.of = "a step";
    c.modelled = report.plan.seconds;
    if (host > 0) c.host = host;
  } else if (const RunTimes* run = main_run(report)) {
    c.of = fmt::format("run {}, of program {}", run - report.run_times.data() + 1, run->program);
    if (report.target.clock_hz > 0) c.modelled = static_cast<double>(run->end - run->begin) / report.target.clock_hz;
    c.host = static_cast<double>(run->host_ns) / 1e9;
  }
  return c;
}

std::string clocks_text(const Clocks& c) {
  std::string out = c.predicted ? "predicted " + time_text(*c.predicted) : "not predicted";
  if (c.modelled) out += ", modelled " + time_text(*c.modelled);
  if (c.host) out += ", host " + time_text(*c.host);
  return out;
}

std::string no_devices_text(const Report& report) {
  const bool has_points = !report.plan.points.empty();
  return fmt::format(
      "the report is of {}, not of a step of several devices: pando simulate PROGRAM --report FILE, and pando run PROGRAM --profile FILE "
      "of a program of several devices, write such reports{}",
      has_points ? "a search" : fmt::format("a program on tiles ({} IPU{})", report.target.ipus, report.target.ipus == 1 ? "" : "s"),
      has_points ? "" : "; of tiles --ask summary has the cycles of each IPU, --ask exchanges what they send each other");
}

const std::string& category_of(const Report& report, const Resident& resident) { return report.categories[resident.category].category; }

std::string operation_of(const std::string& path, std::size_t depth) {
  std::size_t end = 0;
  for (std::size_t i = 0; i < depth; ++i) {
    end = path.find('/', i == 0 ? 0 : end + 1);
    if (end == std::string::npos) return path;
  }
  return path.substr(0, end);
}

std::uint64_t lost_to_imbalance(const StepCycles& step) {
  return static_cast<std::uint64_t>(std::llround(static_cast<double>(step.cycles.compute) * (1 - step.tile_balance)));
}

}  // namespace pando::profile
