#include "search/search.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace pando::search {

namespace {

std::string kinds_of(const Estimate& e) {
  std::string text;
  for (std::size_t k = 0; k < simulate::kMemoryKinds; ++k) {
    if (e.memory[k] >= 0.005 * kGib) {
      text +=
          fmt::format("{}{} {:.2f}", text.empty() ? "" : ", ", simulate::name_of(static_cast<simulate::MemoryKind>(k)), e.memory[k] / kGib);
    }
  }
  return text;
}

}  // namespace

std::string why_not(const Transformer& model, const simulate::Cluster& cluster, const Space& space, const Strategy& s,
                    const Result& result) {
  if (const Violation v = first_violation(model, cluster, s)) return fmt::format("{}: {}\n", v.rule, v.message);
  if (s.devices() != space.devices) return fmt::format("devices: it takes {} devices, {} were asked for\n", s.devices(), space.devices);
  const Estimate e = estimate(model, cluster, s);
  const double limit = space.memory > 0 ? space.memory : static_cast<double>(cluster.memory_bytes);
  if (e.memory_bytes() > limit) {
    return fmt::format("memory: a device of stage {} needs {:.0f} bytes ({:.2f} GiB: {}), {:.0f} more than the {:.0f} that it has\n",
                       e.fullest_stage, e.memory_bytes(), e.memory_bytes() / kGib, kinds_of(e), e.memory_bytes() - limit, limit);
  }
  if (result.best.empty()) return fmt::format("it fits: {:.4f} s, {:.2f} GiB\n", e.seconds, e.memory_bytes() / kGib);
  const Estimate& b = result.best.front().estimate;
  std::string text =
      fmt::format("time: {:.4f} s, {:.2f} % slower than the best ({:.4f} s)", e.seconds, 100 * (e.seconds / b.seconds - 1), b.seconds);
  const std::pair<const char*, double> parts[] = {{"computing", e.computing - b.computing},
                                                  {"recomputing", e.recomputing - b.recomputing},
                                                  {"head", e.head - b.head},
                                                  {"tensor-parallel transfers", e.tensor_transfers - b.tensor_transfers},
                                                  {"pipeline transfers", e.pipeline_transfers - b.pipeline_transfers},
                                                  {"data-parallel transfers", e.data_transfers - b.data_transfers},
                                                  {"bubble", e.bubble - b.bubble},
                                                  {"synchronisation", e.synchronisation - b.synchronisation},
                                                  {"optimizer", e.optimizer - b.optimizer},
                                                  {"offload", e.offload - b.offload}};
  for (const auto& [name, more] : parts) {
    if (std::abs(more) >= 0.0005 * b.seconds) text += fmt::format("\n  {}: {:+.4f} s", name, more);
  }
  return text + "\n";
}

std::string to_table(const Result& r) {
  std::string text = fmt::format("{:>10} {:>12} {:>10}  {}\n", "seconds", "samples/s", "GiB", "strategy");
  for (const Found& f : r.best) {
    text += fmt::format("{:10.4f} {:12.2f} {:10.2f}  {}\n", f.estimate.seconds, static_cast<double>(f.strategy.batch) / f.estimate.seconds,
                        f.estimate.memory_bytes() / kGib, to_string(f.strategy));
  }
  if (r.best.empty())
    text += r.certificate.points > 0 ? "nothing fits\n" : "no strategy has so many devices and all that is demanded\n";
  else {
    const Estimate& e = r.best.front().estimate;
    text += fmt::format(
        "the best: computing {:.4f} s, recomputing {:.4f}, head {:.4f}, tensor {:.4f}, pipeline {:.4f}, data {:.4f}, "
        "bubble {:.4f}, synchronisation {:.4f}, optimizer {:.4f}, offload {:.4f}\n",
        e.computing, e.recomputing, e.head, e.tensor_transfers, e.pipeline_transfers, e.data_transfers, e.bubble, e.synchronisation,
        e.optimizer, e.offload);
    text += fmt::format("its fullest device (stage {}), GiB: {}\n", e.fullest_stage, kinds_of(e));
  }
  if (!r.frontier.empty()) {
    text += "frontier:\n";
    for (const Found& f : r.frontier) {
      text +=
          fmt::format("{:10.4f} {:12.2f} {:10.2f}  {}\n", f.estimate.seconds, static_cast<double>(f.strategy.batch) / f.estimate.seconds,
                      f.estimate.memory_bytes() / kGib, to_string(f.strategy));
    }
  }
  return text + to_text(r.certificate);
}

std::string to_text(const Certificate& c) {
  return fmt::format(
      "certificate: {} points = {} evaluated ({} too large) + {} against a rule + {} too large by a bound + {} slower by a bound; best "
      "{:.6g} s, bound of the rest "
      "{:.6g} s, gap {:.2f} %\n",
      c.points, c.evaluated, c.too_large, c.by_rule, c.by_memory, c.by_time, c.best, c.bound, 100 * c.gap());
}

std::string draw_frontier(const std::vector<FrontierDot>& dots, double limit, const std::string& rate_name) {
  double most = limit, fastest = 0;
  for (const FrontierDot& d : dots) most = std::max(most, d.bytes), fastest = std::max(fastest, d.rate);
  const auto x = [&](double bytes) { return 70 + 500 * bytes / std::max(1.0, most); };
  const auto y = [&](double rate) { return 340 - 300 * rate / std::max(1e-9, fastest); };
  std::string svg = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"620\" height=\"400\" font-family=\"sans-serif\" font-size=\"11\">\n";
  svg += "<rect width=\"620\" height=\"400\" fill=\"white\"/>\n<path d=\"M70 40 V340 H590\" fill=\"none\" stroke=\"black\"/>\n";
  for (int i = 0; i <= 4; ++i) {
    svg += fmt::format("<text x=\"{:.1f}\" y=\"356\" text-anchor=\"middle\">{:.3g}</text>\n", x(most * i / 4), most * i / 4 / kGib);
    svg += fmt::format("<text x=\"64\" y=\"{:.1f}\" text-anchor=\"end\">{:.4g}</text>\n", y(fastest * i / 4) + 4, fastest * i / 4);
  }
  svg += "<text x=\"330\" y=\"376\" text-anchor=\"middle\">GiB on the fullest device</text>\n";
  svg += fmt::format("<text x=\"70\" y=\"28\">{} a second</text>\n", rate_name);
  svg += fmt::format("<path d=\"M{:.1f} 40 V340\" stroke=\"#c33\" stroke-dasharray=\"4 3\"/>\n", x(limit));
  std::string line;
  for (const FrontierDot& d : dots) {
    if (d.frontier) line += fmt::format("{}{:.1f} {:.1f}", line.empty() ? "M" : " L", x(d.bytes), y(d.rate));
  }
  if (!line.empty()) svg += fmt::format("<path d=\"{}\" fill=\"none\" stroke=\"#36c\"/>\n", line);
  for (const FrontierDot& d : dots) {
    svg += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\" fill=\"#36c\"><title>{}</title></circle>\n", x(d.bytes), y(d.rate),
                       d.title);
  }
  return svg + "</svg>\n";
}

std::string frontier_svg(const Result& r, double limit) {
  std::vector<FrontierDot> dots;
  const auto add = [&](const Found& f, bool frontier) {
    dots.push_back(
        {f.estimate.memory_bytes(), static_cast<double>(f.strategy.batch) / f.estimate.seconds, to_string(f.strategy), frontier});
  };
  for (const Found& f : r.frontier) add(f, true);
  for (const Found& f : r.best) add(f, false);
  return draw_frontier(dots, limit, "samples");
}

}  // namespace pando::search
