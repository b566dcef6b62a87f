#include <fmt/format.h>

#include <algorithm>
#include <ostream>

#include "profile/picture/svg_canvas.h"
#include "profile/ranking.h"
#include "profile/report.h"
#include "profile/text.h"

// Three parts from top to bottom: memory by tile, live memory by stream, cycles by step.
namespace pando::profile {

namespace {

constexpr double kWidth = 1100, kLeft = 90, kRight = 30;
constexpr double kPlotWidth = kWidth - kLeft - kRight;
constexpr std::size_t kMostColumns = 300;
constexpr std::size_t kStreamsDrawn = 8;
constexpr std::size_t kStepsDrawn = 16;
constexpr const char* kGrid = "#ddd";
constexpr const char* kFaint = "#777";
// Colour-blind safe (Okabe and Ito), lightened where it fills areas.
constexpr const char* kColours[] = {"#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#b8a800", "#999999"};
constexpr std::size_t kColourCount = sizeof kColours / sizeof *kColours;

const char* colour(std::size_t i) { return kColours[i % kColourCount]; }

struct Frame {
  double left, top, width, height;
  double bottom() const { return top + height; }
};

// Horizontal lines at round shares of `most`, labelled.
void draw_scale(SvgCanvas& svg, const Frame& f, std::uint64_t most) {
  for (int i = 0; i <= 4; ++i) {
    double y = f.bottom() - f.height * i / 4;
    svg.line(f.left, y, f.left + f.width, y, kGrid);
    svg.text(f.left - 6, y + 4, bytes_text(most * static_cast<std::uint64_t>(i) / 4), 10, Anchor::end, kFaint);
  }
}

void draw_legend(SvgCanvas& svg, double x, double y, const std::vector<std::string>& names) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    svg.rectangle(x, y - 8, 10, 10, colour(i));
    svg.text(x + 14, y + 1, names[i], 11);
    x += 26 + 6.2 * static_cast<double>(display_width(names[i]));
  }
}

double draw_header(SvgCanvas& svg, const Report& r) {
  std::string title =
      fmt::format("{}: {} tiles on {} {}", r.target.name, count_text(r.target.tiles), r.target.ipus, r.target.ipus == 1 ? "IPU" : "IPUs");
  svg.text(kLeft, 34, title, 20);
  std::string line = fmt::format("{} vertices in {} compute sets", count_text(r.graph.vertices), count_text(r.graph.compute_sets));
  if (r.executed) {
    line += fmt::format("; {} cycles in {} {}", count_text(r.total_cycles), count_text(r.runs), r.runs == 1 ? "run" : "runs");
    if (r.target.clock_hz > 0) line += " (" + time_text(static_cast<double>(r.total_cycles) / r.target.clock_hz) + ")";
  }
  svg.text(kLeft, 54, line, 12, Anchor::start, kFaint);
  if (r.out_of_memory.empty()) return 80;
  svg.text(kLeft, 74, "Out of memory: " + cut(r.out_of_memory, 140), 12, Anchor::start, "#c00");
  return 100;
}

// The fullest tile of each group of neighbours: one column each.
std::vector<std::size_t> fullest_by_column(const std::vector<TileMemory>& tiles, std::size_t columns) {
  std::vector<std::size_t> out;
  for (std::size_t c = 0; c < columns; ++c) {
    std::size_t begin = c * tiles.size() / columns, end = (c + 1) * tiles.size() / columns, fullest = begin;
    for (std::size_t t = begin; t < end; ++t)
      if (tiles[t].used > tiles[fullest].used) fullest = t;
    out.push_back(fullest);
  }
  return out;
}

void draw_tiles(SvgCanvas& svg, const Report& r, const Frame& f, std::uint64_t most) {
  draw_scale(svg, f, most);
  std::vector<std::size_t> columns = fullest_by_column(r.tiles, std::min(kMostColumns, r.tiles.size()));
  double wide = f.width / static_cast<double>(columns.size());
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const TileMemory& tile = r.tiles[columns[c]];
    double y = f.bottom();
    for (std::size_t k = 0; k < tile.by_category.size(); ++k) {
      double high = f.height * static_cast<double>(tile.by_category[k]) / static_cast<double>(most);
      if (high <= 0) continue;
      svg.rectangle(f.left + static_cast<double>(c) * wide, y - high, wide * (wide > 3 ? 0.9 : 1), high, colour(k),
                    fmt::format("tile {}: {} {}", columns[c], r.categories[k].category, bytes_text(tile.by_category[k])));
      y -= high;
    }
  }
  if (r.target.bytes_per_tile > 0 && r.target.bytes_per_tile <= most) {
    double y = f.bottom() - f.height * static_cast<double>(r.target.bytes_per_tile) / static_cast<double>(most);
    svg.line(f.left, y, f.left + f.width, y, "#c00", true);
    svg.text(f.left + f.width, y - 4, "limit", 10, Anchor::end, "#c00");
  }
  svg.text(f.left, f.bottom() + 14, "tile 0", 10, Anchor::start, kFaint);
  svg.text(f.left + f.width, f.bottom() + 14, fmt::format("tile {}", r.tiles.size() - 1), 10, Anchor::end, kFaint);
}

void draw_histogram(SvgCanvas& svg, const std::vector<std::uint64_t>& used, const Frame& f) {
  Bins bins = bins_of(used, 14, Unit::bytes);
  std::uint64_t most = *std::max_element(bins.counts.begin(), bins.counts.end());
  double high = f.height / static_cast<double>(bins.counts.size());
  for (std::size_t i = 0; i < bins.counts.size(); ++i) {
    double y = f.bottom() - high * static_cast<double>(i + 1),
           wide = (f.width - 60) * static_cast<double>(bins.counts[i]) / static_cast<double>(most);
    std::uint64_t begin = bins.begin + i * bins.width;
    svg.text(f.left - 6, y + high / 2 + 4, bytes_text(begin), 10, Anchor::end, kFaint);
    svg.rectangle(f.left, y + high * 0.1, wide, high * 0.8, "#0072b2",
                  fmt::format("{} tiles use {} to {}", bins.counts[i], bytes_text(begin), bytes_text(begin + bins.width)));
    if (bins.counts[i] > 0) svg.text(f.left + wide + 4, y + high / 2 + 4, count_text(bins.counts[i]), 10);
  }
  svg.text(f.left, f.bottom() + 14, "tiles by memory in use (from the value at the left on)", 10, Anchor::start, kFaint);
}

double draw_memory(SvgCanvas& svg, const Report& r, double top) {
  std::vector<std::uint64_t> used;
  std::uint64_t most = 1;
  for (const TileMemory& t : r.tiles) {
    if (t.with_gaps > 0) used.push_back(t.used);
    most = std::max(most, t.used);
  }
  svg.text(kLeft, top, "Memory by tile", 15);
  if (used.empty()) {
    svg.text(kLeft, top + 22, "nothing is placed", 12, Anchor::start, kFaint);
    return top + 50;
  }
  std::vector<std::string> names;
  for (const CategoryBytes& c : r.categories) names.push_back(c.category + (c.estimated ? " (est.)" : ""));
  draw_legend(svg, kLeft, top + 20, names);
  draw_tiles(svg, r, {kLeft, top + 40, 600, 200}, most);
  draw_histogram(svg, used, {kLeft + 700, top + 40, kPlotWidth - 700, 200});
  return top + 300;
}

void draw_stream(SvgCanvas& svg, const StreamLiveness& s, const Frame& f) {
  std::uint64_t peak = 0;
  std::size_t at = 0;
  for (std::size_t i = 0; i < s.steps.size(); ++i)
    if (s.steps[i].live_bytes > peak) peak = s.steps[i].live_bytes, at = i;
  std::uint64_t most = std::max<std::uint64_t>(1, s.always_live_bytes + peak);
  draw_scale(svg, f, most);
  double floor = f.height * static_cast<double>(s.always_live_bytes) / static_cast<double>(most);
  svg.rectangle(f.left, f.bottom() - floor, f.width, floor, "#cfd8dc", "always live: " + bytes_text(s.always_live_bytes));
  std::size_t columns = std::min<std::size_t>(s.steps.size(), static_cast<std::size_t>(f.width));
  std::vector<std::pair<double, double>> outline = {{f.left, f.bottom() - floor}};
  for (std::size_t c = 0; c < columns; ++c) {
    std::size_t begin = c * s.steps.size() / columns, end = (c + 1) * s.steps.size() / columns;
    std::uint64_t live = 0;
    for (std::size_t i = begin; i < end; ++i) live = std::max(live, s.steps[i].live_bytes);
    double y = f.bottom() - floor - f.height * static_cast<double>(live) / static_cast<double>(most);
    outline.emplace_back(f.left + f.width * static_cast<double>(c) / static_cast<double>(columns), y);
    outline.emplace_back(f.left + f.width * static_cast<double>(c + 1) / static_cast<double>(columns), y);
  }
  outline.emplace_back(f.left + f.width, f.bottom() - floor);
  svg.polygon(outline, "#0072b2");
  std::string name = cut(s.stream, 40);
  if (!s.steps.empty())
    name += fmt::format(": {} steps, most at step {} {}", count_text(s.steps.size()), s.steps[at].order, cut(s.steps[at].name, 70));
  svg.text(f.left, f.top - 6, name, 11);
}

double draw_liveness(SvgCanvas& svg, const Report& r, double top) {
  if (r.liveness.empty()) return top;
  svg.text(kLeft, top, "Live memory over the program, all tiles of a stream (grey: always live)", 15);
  top += 34;
  std::size_t shown = std::min(r.liveness.size(), kStreamsDrawn);
  double high = shown <= 2 ? 110 : 70;
  for (std::size_t i = 0; i < shown; ++i, top += high + 34) draw_stream(svg, r.liveness[i], {kLeft, top, kPlotWidth, high});
  if (shown < r.liveness.size()) {
    svg.text(kLeft, top, fmt::format("and {} more streams", r.liveness.size() - shown), 11, Anchor::start, kFaint);
    top += 20;
  }
  return top + 10;
}

struct Part {
  const char* name;
  std::uint64_t Cycles::* value;
};
constexpr Part kParts[] = {
    {"compute", &Cycles::compute},
    {"exchange", &Cycles::exchange},
    {"local copy", &Cycles::local_copy},
    {"sync", &Cycles::sync},
    {"between IPUs", &Cycles::global_exchange},
    {"host (unvalidated)", &Cycles::host},
    {"waiting", &Cycles::wait},
};

void draw_step(SvgCanvas& svg, const StepCycles& s, double y, std::uint64_t most) {
  constexpr double kNames = 330;
  std::string name = s.name.empty() ? s.kind : s.name;
  svg.text(kLeft, y + 11, cut(s.stream + " " + name, 52), 11);
  double x = kLeft + kNames, scale = (kPlotWidth - kNames - 210) / static_cast<double>(most);
  for (std::size_t t = 0; t < sizeof kParts / sizeof *kParts; ++t) {
    std::uint64_t cycles = s.cycles.*kParts[t].value;
    if (cycles == 0) continue;
    svg.rectangle(x, y, scale * static_cast<double>(cycles), 14, colour(t),
                  fmt::format("{}: {} {} cycles", name, count_text(cycles), kParts[t].name));
    x += scale * static_cast<double>(cycles);
  }
  std::string note = count_text(s.cycles.total());
  if (s.unestimated_vertices > 0) note += fmt::format(", {} unestimated", count_text(s.unestimated_vertices));
  svg.text(x + 6, y + 11, note, 11, Anchor::start, s.unestimated_vertices > 0 ? "#c00" : "#333");
}

double draw_steps(SvgCanvas& svg, const Report& r, double top) {
  if (r.steps.empty()) return top;
  svg.text(kLeft, top, "Cycles by step", 15);
  std::vector<std::string> names;
  for (const Part& t : kParts) names.push_back(t.name);
  draw_legend(svg, kLeft, top + 20, names);
  top += 38;
  const std::vector<std::size_t> order = greatest(r.steps, kStepsDrawn, [](const StepCycles& s) { return s.cycles.total(); });
  const std::uint64_t most = std::max<std::uint64_t>(1, r.steps[order[0]].cycles.total());
  for (std::size_t i = 0; i < order.size(); ++i, top += 20) draw_step(svg, r.steps[order[i]], top, most);
  if (order.size() < r.steps.size()) {
    svg.text(kLeft, top + 12, fmt::format("and {} more steps", count_text(r.steps.size() - order.size())), 11, Anchor::start, kFaint);
    top += 20;
  }
  return top + 10;
}

}  // namespace

void write_svg(const Report& report, std::ostream& out) {
  SvgCanvas svg;
  double top = draw_header(svg, report) + 20;
  top = draw_memory(svg, report, top);
  top = draw_liveness(svg, report, top);
  top = draw_steps(svg, report, top);
  out << svg.document(kWidth, top + 20);
}

}  // namespace pando::profile
