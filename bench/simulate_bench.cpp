// Predicting: the published grid, steps simulated a second, timelines, the search, published measurements, this host.
#include "bench.h"
#include "host_mlp.h"

#include "models/mlp.h"
#include "search/search.h"
#include "search/timeline.h"
#include "search/validate.h"
#include "simulate/calibrate.h"
#include "simulate/csv.h"
#include "simulate/flatten.h"
#include "simulate/simulate.h"
#include "transform/distribute/parallelise.h"

#include <cmath>
#include <cstdlib>
#include <ctime>
#include <numeric>

using namespace pando;
using namespace pando::bench;

namespace {

const std::string kData = PANDO_SOURCE_DIR "/tests/data/";

[[noreturn]] void wrong(const std::string& what) {
  fmt::print("wrong: {}\n", what);
  std::exit(1);
}

transform::Strategy degrees(std::int64_t d, std::int64_t t, std::int64_t p, std::int64_t k) {
  transform::Strategy s;
  s.data = static_cast<std::int32_t>(d), s.tensor = static_cast<std::int32_t>(t), s.pipeline = static_cast<std::int32_t>(p),
      s.microbatches = static_cast<std::int32_t>(k);
  s.schedule = "eager-1F1B";
  s.join_outputs = true;
  s.verify = false;
  return s;
}

// Of this process: other programs on the host do not count.
double processor_seconds_of(const std::function<void()>& work) {
  const std::clock_t begin = std::clock();
  work();
  return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

// Every published point of mlp-small, from the sequential program to its peak and throughput.
void published_grid() {
  const auto csv = simulate::Csv::read_file(kData + "distir/mlp_published_grid_small.csv");
  const simulate::ReferenceCostModel costs(simulate::reference_dgx2());
  double ops = 0, worst = 0;
  const double seconds = processor_seconds_of([&] {
    for (std::size_t i = 0; i < csv.rows(); ++i) {
      const transform::Program mlp =
          models::build_mlp({.layers = csv.integer(i, "layers"), .width = csv.integer(i, "dim"), .batch = csv.integer(i, "batch"),
                             .dtype = ir::DType::float16});
      const auto d = transform::parallelise(mlp, degrees(csv.integer(i, "D"), csv.integer(i, "H"), csv.integer(i, "P"),
                                                         csv.integer(i, "K")));
      const simulate::Program p = simulate::flatten(d.module, costs);
      std::int64_t peak = 0;
      for (const auto& m : simulate::measure_memory(p)) peak = std::max(peak, m.peak);
      if (peak != csv.integer(i, "published_peak_bytes")) wrong(fmt::format("row {} of the grid: a peak of {} bytes", i + 1, peak));
      const auto t = simulate::run_reference_clock(p);
      worst = std::max(worst, std::abs(csv.number(i, "batch") / t.seconds / csv.number(i, "published_throughput") - 1));
      ops += static_cast<double>(t.steps_covered);
    }
  });
  print_figure({.what = "simulate: the published grid of mlp-small, 301 points", .unit = "s", .ours = seconds, .at_most = 10});
  print_figure({.what = "simulate: the grid, an op transformed, inferred, simulated", .unit = "us", .ours = 1e6 * seconds / ops,
                .at_most = 1});
  print_figure({.what = "simulate: the grid, worst error of throughput", .unit = "%", .ours = 100 * worst, .at_most = 0.02});
}

void growing_programs() {
  for (std::int64_t microbatches : {32, 320, 2560}) {
    double ops = 0;
    const double seconds = processor_seconds_of([&] {
      const transform::Program mlp = models::build_mlp({.layers = 64, .width = 8192, .batch = 4 * 2560, .dtype = ir::DType::float16});
      const auto d = transform::parallelise(mlp, degrees(1, 1, 4, microbatches));
      const simulate::Cluster& cluster = simulate::cluster_named("dgx2");
      const simulate::Program p = simulate::flatten(d.module, simulate::ClusterCostModel(cluster));
      const auto t = simulate::run_clock(p, cluster, {.folded = false});
      const auto m = simulate::measure_memory(p, false);
      if (t.seconds <= 0 || m.empty()) wrong("a program without time");
      ops = static_cast<double>(t.steps_run);
    });
    print_figure({.what = fmt::format("simulate: an op transformed, inferred, simulated unfolded, of {:.1g} ops", ops), .unit = "us",
                  .ours = 1e6 * seconds / ops, .at_most = 1});
  }
}

void timelines() {
  const auto model = search::transformer_named("gpt3-175b");
  const auto& selene = simulate::cluster_named("selene");
  const auto s = search::parse_strategy("t=8 p=8 d=16 b=1", 1024);
  double ops = 0;
  const double seconds = best_of(50, [&] { ops = search::timeline_of(model, selene, s).ops; });
  print_figure({.what = fmt::format("simulate: timeline of GPT-3 175B on 1,024 devices, {:.2g} ops folded", ops), .unit = "us",
                .ours = 1e6 * seconds, .at_most = 100});
}

void searches() {
  const auto model = search::transformer_named("gpt3-175b");
  const auto& selene = simulate::cluster_named("selene");
  search::Space space{1024, 1024, false, 0, ""};
  search::Result quick, slow;
  const double seconds = best_of(3, [&] { quick = search::search(model, selene, space); });
  const double all = seconds_of([&] { slow = search::search(model, selene, space, {.brute_force = true}); });
  if (quick.best.empty() || slow.best.empty() || quick.best[0].index != slow.best[0].index) {
    wrong("the search is not the brute-force search");
  }
  fmt::print("{}", search::to_table(quick));
  print_figure({.what = "search: GPT-3 175B, 1,024 devices, 1,011,120 points, exact", .unit = "s", .ours = seconds, .peer = 1011120 / 203.0,
                .peer_name = "Calculon, 203 points/s", .at_most = 10 / (1011120 / 203.0)});
  print_figure({.what = "search: the same, every point evaluated", .unit = "s", .ours = all});
  space = {1536, 4608, true, 0, ""};
  search::Result wide;
  const double wide_seconds = seconds_of([&] { wide = search::search(model, selene, space); });
  fmt::print("{}", search::to_table(wide));
  print_figure({.what = fmt::format("search: GPT-3 175B, 1,536 devices, all axes, {} points", wide.certificate.points), .unit = "s",
                .ours = wide_seconds, .at_most = 60});
}

void published_measurements() {
  const auto sets = search::validate(kData + "distribution");
  fmt::print("{}", search::to_markdown(sets, true));
  double right = 0, pairs = 0;
  for (const auto& s : sets) {
    const double target = s.name.starts_with("zb") ? 3 : s.name == "selene_steps" ? 3.65 : s.name == "b200_steps" ? 4.7
        : s.name == "b200_steps memory" ? 1 : 0;
    print_figure({.what = fmt::format("predict: {}, mean error of {} rows", s.name, s.rows.size()), .unit = "%",
                  .ours = 100 * s.mean_error(), .at_most = target});
    if (s.pairs > 0) right += s.pairs_right * s.pairs, pairs += s.pairs;
  }
  print_figure({.what = "predict: zero bubble, pairs of schedules ranked right", .unit = "%", .ours = 100 * right / pairs, .at_least = 95});
}

// --- this host --------------------------------------------------------------------------------------------------------------------------

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

void write_scatter(const std::vector<double>& predicted, const std::vector<double>& measured, const std::vector<int>& devices) {
  double low = 1e30, high = 0;
  for (const auto* v : {&predicted, &measured}) {
    for (double x : *v) low = std::min(low, x), high = std::max(high, x);
  }
  const auto at = [&](double v) { return 40 + 320 * std::log(v / low) / std::log(high / low); };
  std::string svg = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"420\" height=\"420\" font-family=\"sans-serif\" "
                    "font-size=\"11\">\n<rect width=\"420\" height=\"420\" fill=\"white\"/>\n";
  svg += fmt::format("<path d=\"M{0:.1f} {1:.1f} L{1:.1f} {0:.1f}\" stroke=\"#999\"/>\n<path d=\"M40 40 V380 H380\" fill=\"none\" "
                     "stroke=\"black\"/>\n", 40.0, 380.0);
  svg += fmt::format("<text x=\"210\" y=\"404\" text-anchor=\"middle\">predicted, {:.2g} to {:.2g} s</text>\n<text x=\"46\" "
                     "y=\"34\">measured; circles: 1 thread, squares: 2</text>\n", low, high);
  for (std::size_t i = 0; i < predicted.size(); ++i) {
    const double x = at(predicted[i]), y = 420 - at(measured[i]);
    svg += devices[i] == 1 ? fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3.5\" fill=\"#36c\"/>\n", x, y)
                           : fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"6\" height=\"6\" fill=\"#c63\"/>\n", x - 3, y - 3);
  }
  std::FILE* file = std::fopen(SIMULATE_BENCH_SVG, "w");
  if (file == nullptr) wrong("the scatter plot cannot be written");
  fmt::print(file, "{}</svg>\n", svg);
  std::fclose(file);
}

void this_host() {
  simulate::HostKernels kernels;
  kernels.product = [](std::int64_t m, std::int64_t k, std::int64_t n, const float* a, const float* b, float* c) {
    pando_gemm_packed(static_cast<unsigned>(m), static_cast<unsigned>(n), static_cast<unsigned>(k),
                      {a, static_cast<std::size_t>(k), 1, false},
                      {b, static_cast<std::size_t>(n), 1, false}, c, static_cast<std::size_t>(n), 1, false);
  };
  const simulate::Cluster host = simulate::calibrate_host(kernels, 3);
  const simulate::ClusterCostModel costs(host);
  std::vector<double> predicted, measured;
  std::vector<int> devices;
  double error = 0;
  for (std::int64_t layers : {2, 6}) {
    for (std::int64_t width : {128, 384, 768}) {
      for (std::int64_t batch : {64, 512}) {
        for (const auto& [d, t] : {std::pair{1, 1}, std::pair{2, 1}, std::pair{1, 2}}) {
          const transform::Program mlp = models::build_mlp({.layers = layers, .width = width, .batch = batch});
          transform::Strategy s = degrees(d, t, 1, 1);
          s.first_device = 0;
          const simulate::Program p = simulate::flatten(transform::parallelise(mlp, s).module, costs);
          HostMlp run(p);
          if (!run.known()) wrong("an op that the host's runner does not know");
          predicted.push_back(simulate::run_clock(p, host, {.overlap = false}).seconds);
          measured.push_back(run.seconds(0.15));
          devices.push_back(d * t);
          error += std::abs(predicted.back() / measured.back() - 1);
          fmt::print("{} layers of {}, batch {}, data {} tensor {}: predicted {:.3e} s, measured {:.3e} s\n", layers, width, batch, d, t,
                     predicted.back(), measured.back());
        }
      }
    }
  }
  write_scatter(predicted, measured, devices);
  print_figure({.what = fmt::format("predict: this host, 1 and 2 threads, {} MLPs, rank correlation", predicted.size()), .unit = "",
                .ours = correlation(ranks_of(predicted), ranks_of(measured)), .at_least = 0.9});
  print_figure({.what = "predict: the same, mean error", .unit = "%", .ours = 100 * error / static_cast<double>(predicted.size())});
}

}  // namespace

int main() {
  timelines();
  this_host();
  published_grid();
  growing_programs();
  searches();
  published_measurements();
}
