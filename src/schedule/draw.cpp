#include "schedule/draw.h"

#include "base/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

namespace pando::schedule {

namespace {

char letter(Action a) {
  switch (a) {
    case Action::forward: return 'F';
    case Action::input_gradient: return 'I';
    case Action::weight_gradient: return 'W';
    case Action::backward: return 'B';
    default: return ' ';
  }
}

const char* colour(Action a) {
  switch (a) {
    case Action::forward: return "#7fb2e5";
    case Action::input_gradient: return "#f2b56b";
    case Action::weight_gradient: return "#9ccc83";
    default: return "#e08a7d";
  }
}

}  // namespace

std::string draw_text(const Table& table, const Timing& timing, const Costs& costs, double columns_per_unit) {
  if (const double width = timing.makespan * columns_per_unit; !(columns_per_unit > 0) || !(width <= kMostColumns)) {
    fail(ErrorKind::poplar_error, "schedule-picture",
         "a picture of {:g} columns, {:g} for each unit of a makespan of {:g}; it has at most {:g}, as {:.3g} for each unit would make",
         width, columns_per_unit, timing.makespan, kMostColumns, kMostColumns / timing.makespan);
  }
  std::string out;
  const auto column = [&](double t) { return static_cast<std::size_t>(std::llround(t * columns_per_unit)); };
  for (std::size_t r = 0; r < table.ranks.size(); ++r) {
    std::string what(column(timing.makespan), ' '), which(column(timing.makespan), '.');
    for (std::size_t i = 0; i < table.ranks[r].size(); ++i) {
      const Cell& c = table.ranks[r][i];
      if (!computes(c.action)) continue;
      const std::size_t begin = column(timing.start[r][i]),
                        end = std::min(which.size(), std::max(begin + 1, column(timing.start[r][i] + costs.of(c))));
      for (std::size_t at = begin; at < end; ++at) {
        what[at] = letter(c.action);
        which[at] = static_cast<char>('0' + c.microbatch % 10);
      }
    }
    fmt::format_to(std::back_inserter(out), "         {}\nrank {:<3} {}\n", what, r, which);
  }
  return out;
}

std::string draw_svg(const Table& table, const Timing& timing, const Costs& costs) {
  constexpr double kRow = 28, kLeft = 60, kTop = 10, kWidth = 1100;
  const double scale = timing.makespan > 0 ? (kWidth - kLeft - 10) / timing.makespan : 1;
  const double height = kTop + kRow * static_cast<double>(table.ranks.size()) + 40;
  std::string out =
      fmt::format("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{:g}\" height=\"{:g}\" font-family=\"sans-serif\" font-size=\"10\">\n",
                  kWidth, height);
  out += "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n";
  for (std::size_t r = 0; r < table.ranks.size(); ++r) {
    const double y = kTop + kRow * static_cast<double>(r);
    fmt::format_to(std::back_inserter(out), "<text x=\"4\" y=\"{:.1f}\">rank {}</text>\n", y + 17, r);
    for (std::size_t i = 0; i < table.ranks[r].size(); ++i) {
      const Cell& c = table.ranks[r][i];
      if (!computes(c.action)) continue;
      const double x = kLeft + timing.start[r][i] * scale, width = costs.of(c) * scale;
      fmt::format_to(std::back_inserter(out),
                     "<rect x=\"{:.2f}\" y=\"{:.1f}\" width=\"{:.2f}\" height=\"{:g}\" fill=\"{}\" stroke=\"#444\" "
                     "stroke-width=\"0.4\"><title>{}</title></rect>\n",
                     x, y, width, kRow - 4, colour(c.action), to_string(c));
      if (width >= 9)
        fmt::format_to(std::back_inserter(out), "<text x=\"{:.2f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n", x + width / 2, y + 16,
                       c.microbatch);
    }
  }
  fmt::format_to(std::back_inserter(out),
                 "<text x=\"{:g}\" y=\"{:.1f}\">F blue, I orange, W green, B red; makespan {:g}, bubble {:.2f} %</text>\n</svg>\n", kLeft,
                 kTop + kRow * static_cast<double>(table.ranks.size()) + 20, timing.makespan, 100 * timing.bubble);
  return out;
}

}  // namespace pando::schedule
