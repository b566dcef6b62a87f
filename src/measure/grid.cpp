#include "measure/grid.h"

#include "kernels/gemm/gemm.h"
#include "measure/run.h"
#include "models/gpt.h"
#include "models/mlp.h"
#include "search/programs/program_search.h"
#include "search/strategy_text.h"
#include "simulate/costs/calibrate.h"
#include "simulate/costs/flatten.h"

#include <fmt/format.h>
#include <poplar/exceptions.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace pando::measure {

namespace {

transform::Strategy words(const std::string& text) {
  transform::Strategy s;
  s.first_device = 0;
  return search::parse_strategy(text, search::Spelling::whole, s);
}

void add_mlp(std::vector<Configuration>& all, const models::Mlp& m, const std::vector<std::string>& strategies) {
  const transform::Program p = models::build_mlp(m);
  for (const std::string& s : strategies) {
    all.push_back({fmt::format("mlp {} x {}, batch {}, {}", m.layers, m.width, m.batch, s), p, words(s)});
  }
}

void add_gpt(std::vector<Configuration>& all, const models::Gpt& g, const std::vector<std::string>& strategies) {
  const transform::Program p = models::build_gpt(g);
  for (const std::string& s : strategies) {
    all.push_back({fmt::format("gpt {} x {}, {} x {} tokens, {}", g.layers, g.width, g.batch, g.sequence, s), p, words(s)});
  }
}

models::Gpt gpt(std::int64_t layers, std::int64_t width, std::int64_t sequence, std::int64_t batch) {
  models::Gpt g;
  g.layers = layers;
  g.width = width;
  g.heads = 4;
  g.vocabulary = 128;
  g.sequence = sequence;
  g.batch = batch;
  return g;
}

double predicted(const Configuration& c, const simulate::Cluster& cluster, const simulate::CostModel* costs = nullptr) {
  return search::estimate_program(c.program, c.strategy, cluster, costs).seconds;
}

ir::Module module_of(const Configuration& c) { return transform::parallelise(c.program, c.strategy).module; }

std::vector<double> ranks_of(const std::vector<double>& values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  std::vector<double> ranks(values.size());
  for (std::size_t i = 0; i < order.size(); ++i) ranks[order[i]] = static_cast<double>(i);
  return ranks;
}

double correlation(const std::vector<double>& x, const std::vector<double>& y) {
  const auto n = static_cast<double>(x.size());
  const double mx = std::accumulate(x.begin(), x.end(), 0.0) / n, my = std::accumulate(y.begin(), y.end(), 0.0) / n;
  double xy = 0, xx = 0, yy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xy += (x[i] - mx) * (y[i] - my), xx += (x[i] - mx) * (x[i] - mx), yy += (y[i] - my) * (y[i] - my);
  }
  return xy / std::sqrt(xx * yy);
}

// Seconds of a step.
double run_here(const Configuration& c, HostRun how, double expected, double budget) {
  if (how == HostRun::sessions) return run_on_host(module_of(c), budget);
  constexpr double kFewest = 8, kMost = 2000;
  return run_on_ranks(module_of(c), c.devices(), static_cast<std::int64_t>(std::clamp(budget / expected, kFewest, kMost)));
}

// What the network must bring in a second for a step of large messages to take as long as it does.
double bytes_per_second(simulate::Cluster host, double measured, const Configuration& c) {
  constexpr double kSlow = 1e9, kAtOnce = 1e18;
  host.levels[0].bytes_per_second = kAtOnce;
  const double rest = predicted(c, host);
  host.levels[0].bytes_per_second = kSlow;
  const double bytes = kSlow * (predicted(c, host) - rest);
  return bytes / std::max(1e-6, measured - rest);
}

// Ops of a sequential step, and the seconds that the cluster's model says they work.
struct Work {
  double ops = 0, seconds = 0;
};
Work work_of(const ir::Module& m, const simulate::Cluster& c) {
  const simulate::Program p = simulate::flatten(m, simulate::ClusterCostModel(c));
  Work w;
  for (const simulate::Step& s : p.bodies.front().steps) w.ops += 1, w.seconds += s.seconds;
  return w;
}

}  // namespace

std::vector<Configuration> ipu_configurations() {
  std::vector<Configuration> all;
  add_mlp(all, {.layers = 2, .width = 64, .batch = 16, .learning_rate = 0.1}, {"data=2", "tensor=2", "pipeline=2 microbatches=2"});
  add_mlp(all, {.layers = 4, .width = 256, .batch = 64, .learning_rate = 0.1},
          {"data=2", "tensor=2", "pipeline=2 microbatches=4", "data=4", "data=2 tensor=2", "pipeline=4 microbatches=4"});
  add_mlp(all, {.layers = 8, .width = 512, .batch = 128, .learning_rate = 0.1}, {"data=2", "tensor=4", "pipeline=4 microbatches=8"});
  add_mlp(all, {.layers = 8, .width = 128, .batch = 64, .learning_rate = 0.1},
          {"data=8", "data=2 pipeline=4 microbatches=4", "pipeline=8 microbatches=8", "data=16"});
  add_mlp(all, {.layers = 4, .width = 1024, .batch = 512, .learning_rate = 0.1}, {"data=2", "tensor=8", "tensor=4 data=4", "data=4"});
  add_gpt(all, gpt(2, 64, 16, 8), {"data=2", "tensor=2", "pipeline=2 microbatches=2", "data=4", "data=2 tensor=2", "data=8"});
  add_gpt(all, gpt(3, 64, 16, 8), {"data=2 recompute=full", "tensor=4", "pipeline=4 microbatches=2"});
  return all;
}

std::vector<Configuration> host_configurations() {
  std::vector<Configuration> all;
  const std::vector<std::string> strategies = {"data=1", "data=2", "tensor=2", "pipeline=2 microbatches=4"};
  add_mlp(all, {.layers = 2, .width = 128, .batch = 64, .learning_rate = 0.1}, strategies);
  add_mlp(all, {.layers = 4, .width = 256, .batch = 128, .learning_rate = 0.1}, strategies);
  add_mlp(all, {.layers = 4, .width = 512, .batch = 256, .learning_rate = 0.1}, strategies);
  add_mlp(all, {.layers = 6, .width = 768, .batch = 512, .learning_rate = 0.1}, strategies);
  add_gpt(all, gpt(2, 64, 16, 8), strategies);
  add_gpt(all, gpt(2, 128, 32, 8), strategies);
  add_gpt(all, gpt(4, 128, 64, 16), strategies);
  add_gpt(all, gpt(2, 256, 64, 32), strategies);
  add_mlp(all, {.layers = 2, .width = 1024, .batch = 256, .learning_rate = 0.1}, {"data=1", "tensor=2"});
  return all;
}

Grid compare_on_ipus(const std::vector<Configuration>& all, const simulate::Cluster& cluster, const std::string& machine,
                     std::int64_t tiles, const std::function<void(const Pair&)>& shown, const simulate::CostModel* costs) {
  Grid g;
  for (const Configuration& c : all) {
    Pair p{c.what, c.devices(), predicted(c, cluster, costs), 0, {}};
    try {
      p.measured = run_on_ipus(module_of(c), machine, tiles).seconds;
    } catch (const poplar::graph_memory_allocation_error&) { p.left_out = "out of memory"; }
    if (shown) shown(p);
    (p.left_out.empty() ? g.pairs : g.left_out).push_back(std::move(p));
  }
  return g;
}

Grid compare_on_host(const std::vector<Configuration>& all, const simulate::Cluster& host, double budget,
                     const std::function<void(const Pair&)>& shown, HostRun how, const simulate::CostModel* costs) {
  Grid g;
  for (const Configuration& c : all) {
    const double expected = predicted(c, host, costs);
    g.pairs.push_back({c.what, c.devices(), expected, run_here(c, how, expected, budget), {}});
    if (shown) shown(g.pairs.back());
  }
  return g;
}

double Grid::rank_correlation() const {
  std::vector<double> x, y;
  for (const Pair& p : pairs) x.push_back(p.predicted), y.push_back(p.measured);
  return correlation(ranks_of(x), ranks_of(y));
}

double Grid::mean_error() const {
  double sum = 0;
  for (const Pair& p : pairs) sum += std::abs(p.predicted / p.measured - 1);
  return sum / static_cast<double>(pairs.size());
}

simulate::Cluster calibrate_runs(double seconds, HostRun how) {
  simulate::HostKernels kernels;
  kernels.product = [](std::int64_t m, std::int64_t k, std::int64_t n, const float* a, const float* b, float* c) {
    pando_gemm_packed(static_cast<unsigned>(m), static_cast<unsigned>(n), static_cast<unsigned>(k),
                      {a, static_cast<std::size_t>(k), 1, false}, {b, static_cast<std::size_t>(n), 1, false}, c,
                      static_cast<std::size_t>(n), 1, false);
  };
  simulate::Cluster host = simulate::calibrate_host(kernels, 0.7 * seconds);
  host.launch = 0;
  // Steps so small that their ops' work is next to nothing.
  const transform::Program tiny = models::build_gpt(gpt(2, 8, 4, 4));
  const Configuration one{"", tiny, words("data=1")}, two{"", tiny, words("data=2")};
  const auto measured = [&](const Configuration& c) { return run_here(c, how, 1e-3, 0.1 * seconds); };
  const Work alone = work_of(module_of(one), host);
  host.launch = std::max(1e-8, (measured(one) - alone.seconds) / alone.ops);
  // What two devices take beside that is for their messages.
  host.levels[0].latency = 0;
  double messages = 0;
  const ir::Module both = module_of(two);
  for (const simulate::Step& s : simulate::flatten(both, simulate::ClusterCostModel(host)).bodies.front().steps) {
    messages += s.kind == simulate::StepKind::transfer;
  }
  const double rest = measured(two) - predicted(two, host);
  host.levels[0].latency = std::max(1e-7, rest / std::max(1.0, messages) / 2);
  if (how == HostRun::sessions) return host;
  // Small batches of wide layers: gradients are most of the step.
  const Configuration wide{"", models::build_mlp({.layers = 2, .width = 512, .batch = 8, .learning_rate = 0.1}), words("data=2")};
  host.levels[0].bytes_per_second = bytes_per_second(host, measured(wide), wide);
  return host;
}

std::string to_text(const Pair& p) {
  if (!p.left_out.empty())
    return fmt::format("{:<56} {:>2} devices: predicted {:.4g} s, not measured: {}", p.what, p.devices, p.predicted, p.left_out);
  return fmt::format("{:<56} {:>2} devices: predicted {:.4g} s, measured {:.4g} s ({:+.0f} %)", p.what, p.devices, p.predicted, p.measured,
                     100 * (p.predicted / p.measured - 1));
}

std::string summary(const Grid& g) {
  std::string text = fmt::format("{} configurations", g.pairs.size());
  if (g.pairs.size() > 1) text += fmt::format(": rank correlation {:.3f}, mean error {:.0f} %", g.rank_correlation(), 100 * g.mean_error());
  std::map<std::string, int> reasons;
  for (const Pair& p : g.left_out) ++reasons[p.left_out];
  for (const auto& [reason, n] : reasons) text += fmt::format("; {} left out: {}", n, reason);
  return text;
}

std::string scatter_svg(const Grid& g, const std::string& title) {
  double low = 1e30, high = 0;
  if (g.pairs.empty()) low = high = 1;
  for (const Pair& p : g.pairs) low = std::min({low, p.predicted, p.measured}), high = std::max({high, p.predicted, p.measured});
  const auto at = [&](double v) { return 60 + 300 * std::log(v / low) / std::log(high / low); };
  std::string svg = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"440\" height=\"440\" font-family=\"sans-serif\" font-size=\"11\">\n";
  svg += "<rect width=\"440\" height=\"440\" fill=\"white\"/>\n<path d=\"M60 20 V380 H420\" fill=\"none\" stroke=\"black\"/>\n";
  svg += "<path d=\"M60 380 L380 60\" stroke=\"#999\"/>\n";
  svg += fmt::format("<text x=\"60\" y=\"14\">{}; rank correlation {:.3f}</text>\n", title, g.rank_correlation());
  svg += "<text x=\"240\" y=\"424\" text-anchor=\"middle\">predicted, seconds</text>\n";
  svg += "<text x=\"16\" y=\"200\" text-anchor=\"middle\" transform=\"rotate(-90 16 200)\">measured, seconds</text>\n";
  for (double decade = std::pow(10, std::ceil(std::log10(low))); decade <= high; decade *= 10) {
    svg += fmt::format("<text x=\"{:.1f}\" y=\"396\" text-anchor=\"middle\">{:g}</text>\n", at(decade), decade);
    svg += fmt::format("<text x=\"54\" y=\"{:.1f}\" text-anchor=\"end\">{:g}</text>\n", 444 - at(decade), decade);
  }
  constexpr const char* kColours[] = {"#36c", "#c63", "#393", "#939", "#066"};
  std::vector<std::int32_t> counts;
  for (const Pair& p : g.pairs) counts.push_back(p.devices);
  std::sort(counts.begin(), counts.end());
  counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
  const auto colour = [&](std::int32_t devices) {
    return kColours[static_cast<std::size_t>(std::find(counts.begin(), counts.end(), devices) - counts.begin()) % 5];
  };
  for (std::size_t i = 0; i < counts.size(); ++i) {
    svg += fmt::format("<text x=\"76\" y=\"{}\" fill=\"{}\">{} device{}</text>\n", 40 + 14 * i, colour(counts[i]), counts[i],
                       counts[i] == 1 ? "" : "s");
  }
  for (const Pair& p : g.pairs) {
    svg += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3.5\" fill=\"{}\"><title>{}</title></circle>\n", at(p.predicted),
                       440 - at(p.measured), colour(p.devices), p.what);
  }
  return svg + "</svg>\n";
}

}  // namespace pando::measure
