#include "search/report.h"

#include "search/strategy.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace pando::search {

namespace {

// "weights 3, gradients 2": what `text` says of each kind; empty: nothing.
template <class T, class F>
std::string kinds_with(const std::array<T, simulate::kMemoryKinds>& bytes, F&& text) {
  std::string all;
  for (std::size_t k = 0; k < simulate::kMemoryKinds; ++k) {
    if (const std::string one = text(bytes[k]); !one.empty())
      all += fmt::format("{}{} {}", all.empty() ? "" : ", ", simulate::name_of(static_cast<simulate::MemoryKind>(k)), one);
  }
  return all;
}

std::string line_of(const Report& r, const Report::Line& l) {
  const double rate = r.rate / l.seconds;
  const std::string strategy = l.equals.empty() ? l.strategy : fmt::format("{} (or {})", l.strategy, fmt::join(l.equals, ", "));
  return r.is_small ? fmt::format("{:12.6g} {:12.6g} {:12.4f}  {}\n", l.seconds, rate, l.bytes / kGib * 1024, strategy)
                    : fmt::format("{:10.4f} {:12.2f} {:10.2f}  {}\n", l.seconds, rate, l.bytes / kGib, strategy);
}

}  // namespace

std::string kinds_text(const std::array<double, simulate::kMemoryKinds>& bytes) {
  return kinds_with(bytes, [](double b) { return b >= 0.005 * kGib ? fmt::format("{:.2f}", b / kGib) : std::string(); });
}

std::string kinds_text(const simulate::KindBytes& bytes) {
  return kinds_with(bytes, [](std::int64_t b) { return b > 0 ? std::to_string(b) : std::string(); });
}

std::string to_table(const Report& r) {
  const int width = r.is_small ? 12 : 10;
  std::string text = fmt::format("{:>{}} {:>12} {:>{}}  strategy\n", "seconds", width, fmt::format("{}/s", r.rate_name),
                                 r.is_small ? "MiB" : "GiB", width);
  for (const Report::Line& l : r.best) text += line_of(r, l);
  if (r.best.empty()) text += r.certificate.points > 0 ? "nothing fits\n" : "no strategy has so many devices and all that is demanded\n";
  text += r.of_the_best;
  if (!r.frontier.empty()) text += "frontier:\n";
  for (const Report::Line& l : r.frontier) text += line_of(r, l);
  if (std::ranges::any_of(r.best, [](const Report::Line& l) { return !l.equals.empty(); }))
    text += "(or ...): takes the same time and memory, so it has no row of its own\n";
  const bool was_searched = r.certificate.points > 0 || r.best.empty();
  return text + r.notes + (was_searched ? to_text(r.certificate) : "");
}

std::string to_text(const Certificate& c) {
  return fmt::format(
      "{}certificate: {} points = {} evaluated ({} too large) + {} against a rule + {} too large by a bound + {} slower by a bound{}; best "
      "{:.6g} s, bound of the rest "
      "{:.6g} s, gap {:.2f} %\n",
      c.stopped ? "stopped: the best so far\n" : "", c.points, c.evaluated, c.too_large, c.by_rule, c.by_memory, c.by_time,
      c.stopped ? fmt::format(" + {} not looked at", c.not_seen()) : "", c.best, c.bound, 100 * c.gap());
}

std::string frontier_svg(const Report& r, double limit) {
  double most = limit, fastest = 0;
  std::string line;
  for (const auto* lines : {&r.frontier, &r.best}) {
    for (const Report::Line& l : *lines) most = std::max(most, l.bytes), fastest = std::max(fastest, r.rate / l.seconds);
  }
  const auto x = [&](double bytes) { return 70 + 500 * bytes / std::max(1.0, most); };
  const auto y = [&](double rate) { return 340 - 300 * rate / std::max(1e-9, fastest); };
  std::string svg = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"620\" height=\"400\" font-family=\"sans-serif\" font-size=\"11\">\n";
  svg += "<rect width=\"620\" height=\"400\" fill=\"white\"/>\n<path d=\"M70 40 V340 H590\" fill=\"none\" stroke=\"black\"/>\n";
  for (int i = 0; i <= 4; ++i) {
    svg += fmt::format("<text x=\"{:.1f}\" y=\"356\" text-anchor=\"middle\">{:.3g}</text>\n", x(most * i / 4), most * i / 4 / kGib);
    svg += fmt::format("<text x=\"64\" y=\"{:.1f}\" text-anchor=\"end\">{:.4g}</text>\n", y(fastest * i / 4) + 4, fastest * i / 4);
  }
  svg += "<text x=\"330\" y=\"376\" text-anchor=\"middle\">GiB on the fullest device</text>\n";
  svg += fmt::format("<text x=\"70\" y=\"28\">{} a second</text>\n", r.rate_name);
  svg += fmt::format("<path d=\"M{:.1f} 40 V340\" stroke=\"#c33\" stroke-dasharray=\"4 3\"/>\n", x(limit));
  for (const Report::Line& l : r.frontier)
    line += fmt::format("{}{:.1f} {:.1f}", line.empty() ? "M" : " L", x(l.bytes), y(r.rate / l.seconds));
  if (!line.empty()) svg += fmt::format("<path d=\"{}\" fill=\"none\" stroke=\"#36c\"/>\n", line);
  for (const auto* lines : {&r.frontier, &r.best}) {
    for (const Report::Line& l : *lines)
      svg += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\" fill=\"#36c\"><title>{}</title></circle>\n", x(l.bytes),
                         y(r.rate / l.seconds), l.strategy);
  }
  return svg + "</svg>\n";
}

}  // namespace pando::search
