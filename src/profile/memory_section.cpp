#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <ostream>

#include "profile/ranking.h"
#include "profile/summary.h"
#include "profile/text.h"

namespace pando::profile {

namespace {

constexpr std::size_t kLargestShown = 10;
constexpr std::size_t kOverTilesShown = 8;
constexpr std::size_t kChartedStreams = 4;

struct MemoryTotals {
  std::uint64_t used = 0, with_gaps = 0, used_tiles = 0;
  std::size_t worst = 0;  // index of the fullest tile, gaps included: what decides whether the program fits
  std::vector<std::size_t> over;
};

MemoryTotals totals_of(const Report& report) {
  MemoryTotals t;
  for (std::size_t i = 0; i < report.tiles.size(); ++i) {
    const TileMemory& tile = report.tiles[i];
    t.used += tile.used;
    t.with_gaps += tile.with_gaps;
    t.used_tiles += tile.with_gaps > 0;
    if (tile.with_gaps > report.tiles[t.worst].with_gaps) t.worst = i;
    if (report.target.bytes_per_tile > 0 && tile.with_gaps > report.target.bytes_per_tile) t.over.push_back(i);
  }
  return t;
}

std::string share_text(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? "" : fmt::format(" ({})", percent_text(static_cast<double>(part) / static_cast<double>(whole)));
}

void print_totals(const Report& report, const MemoryTotals& t, std::ostream& out) {
  std::uint64_t limit = report.target.bytes_per_tile, capacity = limit * report.target.tiles;
  out << fmt::format("  Without gaps:        {}{} on {} tiles\n", bytes_text(t.used), share_text(t.used, capacity),
                     count_text(t.used_tiles));
  out << fmt::format("  With gaps:           {}{}\n", bytes_text(t.with_gaps), share_text(t.with_gaps, capacity));
  if (report.tiles.empty()) return;
  const TileMemory& worst = report.tiles[t.worst];
  out << fmt::format("  Worst tile:          tile {}: {}{}, {} without gaps\n", t.worst, bytes_text(worst.with_gaps),
                     share_text(worst.with_gaps, limit), bytes_text(worst.used));
  if (limit > 0) {
    out << fmt::format("  Tiles over memory:   {}", t.over.empty() ? "none" : count_text(t.over.size()));
    for (std::size_t i = 0; i < std::min(t.over.size(), kOverTilesShown); ++i) out << (i == 0 ? ": " : ", ") << t.over[i];
    out << (t.over.size() > kOverTilesShown ? ", ...\n" : "\n");
  }
  if (!report.out_of_memory.empty()) out << "  OUT OF MEMORY:       " << report.out_of_memory << '\n';
}

void print_categories(const Report& report, const MemoryTotals& t, std::ostream& out) {
  if (report.categories.empty()) return;
  bool estimates = false;
  out << "\n  By category" << left("", 13) << "all tiles    share  worst tile\n";
  for (std::size_t c = 0; c < report.categories.size(); ++c) {
    const CategoryBytes& category = report.categories[c];
    const TileMemory* worst = report.tiles.empty() ? nullptr : &report.tiles[t.worst];
    std::uint64_t on_worst = worst && c < worst->by_category.size() ? worst->by_category[c] : 0;
    double share = t.used == 0 ? 0 : static_cast<double>(category.bytes) / static_cast<double>(t.used);
    std::string blocks = bar(share, 24);
    std::string line =
        fmt::format("    {} {} {} {}  {}", left(category.category + (category.estimated ? " *" : ""), 20),
                    right(bytes_text(category.bytes), 11), right(percent_text(share), 8), right(bytes_text(on_worst), 11), blocks);
    out << line.substr(0, line.find_last_not_of(' ') + 1) << '\n';
    estimates |= category.estimated;
  }
  if (estimates) out << "    * some of it is an estimate\n";
}

void print_tiles(const Report& report, std::ostream& out) {
  std::vector<std::uint64_t> used;
  for (const TileMemory& tile : report.tiles)
    if (tile.with_gaps > 0) used.push_back(tile.used);
  if (used.empty()) return;
  auto [low, high] = std::minmax_element(used.begin(), used.end());
  if (*low == *high) {
    out << fmt::format("\n  Every used tile:     {}\n", bytes_text(*low));
    return;
  }
  std::uint64_t sum = 0;
  for (std::uint64_t v : used) sum += v;
  out << fmt::format("\n  Tiles by memory in use: least {}, mean {}, most {}\n", bytes_text(*low), bytes_text(sum / used.size()),
                     bytes_text(*high));
  print_histogram(used, Unit::bytes, out);
}

void print_ipus(const Report& report, std::ostream& out) {
  if (report.target.tiles_per_ipu == 0) return;
  out << "\n  By IPU                without gaps    with gaps   worst tile\n";
  for (std::size_t begin = 0; begin < report.tiles.size(); begin += report.target.tiles_per_ipu) {
    std::size_t end = std::min<std::size_t>(begin + report.target.tiles_per_ipu, report.tiles.size()), worst = begin;
    std::uint64_t used = 0, with_gaps = 0;
    for (std::size_t i = begin; i < end; ++i) {
      used += report.tiles[i].used;
      with_gaps += report.tiles[i].with_gaps;
      if (report.tiles[i].with_gaps > report.tiles[worst].with_gaps) worst = i;
    }
    out << fmt::format("    {} {} {} {} (tile {})\n", left(fmt::format("IPU {}", begin / report.target.tiles_per_ipu), 16),
                       right(bytes_text(used), 13), right(bytes_text(with_gaps), 12), right(bytes_text(report.tiles[worst].with_gaps), 12),
                       worst);
  }
}

void print_largest(const Report& report, bool all, std::ostream& out) {
  if (report.largest.empty()) return;
  std::size_t shown = all ? report.largest.size() : std::min(report.largest.size(), kLargestShown);
  out << "\n  Largest variables\n         bytes    tiles  category         name\n";
  for (std::size_t i = 0; i < shown; ++i) {
    const LargestVariable& v = report.largest[i];
    out << fmt::format("    {} {}  {}  {}\n", right(bytes_text(v.bytes), 10), right(count_text(v.tiles), 8), left(v.category, 15),
                       cut(v.name.empty() ? "(no name)" : v.name, 56));
  }
  if (shown < report.largest.size()) out << fmt::format("    ... and {} more (showVarStorage)\n", report.largest.size() - shown);
}

std::optional<LiveStep> peak_of(const StreamLiveness& s) {
  std::optional<LiveStep> peak;
  for (const LiveStep& step : s.steps)
    if (!peak || step.live_bytes > peak->live_bytes) peak = step;
  return peak;
}

std::vector<std::uint64_t> live_bytes_of(const StreamLiveness& s) {
  std::vector<std::uint64_t> values;
  for (const LiveStep& step : s.steps) values.push_back(step.live_bytes);
  return values;
}

void print_stream(const StreamLiveness& s, bool chart, std::ostream& out) {
  const std::optional<LiveStep> peak = peak_of(s);
  out << fmt::format("\n  {}: always live {}", cut(s.stream, 30), bytes_text(s.always_live_bytes));
  if (!peak) {
    out << ", no steps\n";
    return;
  }
  std::uint64_t worst = 0;
  for (const LiveStep& step : s.steps) worst = std::max(worst, step.worst_tile_bytes);
  out << fmt::format(", peak {} more, fullest tile {}\n", bytes_text(peak->live_bytes), bytes_text(worst));
  if (chart)
    print_area_chart({.values = live_bytes_of(s), .floor = s.always_live_bytes, .width = 80}, out);
  else
    out << "    " << spark_line(live_bytes_of(s), 80) << '\n';
  out << fmt::format("    {} steps, {} to {}; peak at step {}: {}\n", count_text(s.steps.size()), s.steps.front().order,
                     s.steps.back().order, peak->order, cut(peak->name.empty() ? "(no name)" : peak->name, 46));
}

}  // namespace

void print_memory_section(const Report& report, const SummaryOptions& options, std::ostream& out) {
  out << "\nMemory Usage:\n";
  MemoryTotals t = totals_of(report);
  print_totals(report, t, out);
  print_categories(report, t, out);
  print_tiles(report, out);
  if (options.per_ipu_memory) print_ipus(report, out);
  print_largest(report, options.var_storage, out);
}

void print_liveness_section(const Report& report, std::ostream& out) {
  if (report.liveness.empty()) return;
  // The streams with the most to show get a chart, the others one line.
  std::vector<std::size_t> by_peak = ranking(report.liveness.size(), [&](std::size_t i) {
    const std::optional<LiveStep> peak = peak_of(report.liveness[i]);
    return report.liveness[i].always_live_bytes + (peak ? peak->live_bytes : 0);
  });
  std::vector<bool> charted(by_peak.size());
  for (std::size_t i = 0; i < std::min(by_peak.size(), kChartedStreams); ++i) charted[by_peak[i]] = true;
  out << "\nLive memory over the program (all tiles of a stream; ░ always live, █ live at that step):\n";
  for (std::size_t i = 0; i < report.liveness.size(); ++i) print_stream(report.liveness[i], charted[i], out);
}

}  // namespace pando::profile
