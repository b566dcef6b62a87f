// Predicting: the published grid, steps simulated a second, timelines, the search, published measurements.
#include "base/testing/places.h"
#include "bench.h"

#include "measure/published/published.h"
#include "models/gpt.h"
#include "models/mlp.h"
#include "search/programs/program_search.h"
#include "search/search.h"
#include "search/timeline.h"
#include "simulate/costs/flatten.h"
#include "simulate/csv.h"
#include "simulate/simulate.h"
#include "transform/distribute/annotate.h"
#include "transform/distribute/parallelise.h"

#include <cmath>
#include <cstdlib>
#include <ctime>

using namespace pando;
using namespace pando::bench;

namespace {

const std::string kData = source_path("tests/data/");

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
      const transform::Program mlp = models::build_mlp({.layers = csv.integer(i, "layers"),
                                                        .width = csv.integer(i, "dim"),
                                                        .batch = csv.integer(i, "batch"),
                                                        .dtype = ir::DType::float16});
      const auto d =
          transform::parallelise(mlp, degrees(csv.integer(i, "D"), csv.integer(i, "H"), csv.integer(i, "P"), csv.integer(i, "K")));
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
  print_figure(
      {.what = "simulate: the grid, an op transformed, inferred, simulated", .unit = "us", .ours = 1e6 * seconds / ops, .at_most = 1});
  print_figure({.what = "simulate: the grid, worst error of throughput", .unit = "%", .ours = 100 * worst, .at_most = 0.02});
}

void growing_programs() {
  for (std::int64_t microbatches : {32, 320, 2560, 32000}) {
    double ops = 0;
    const double seconds = processor_seconds_of([&] {
      const transform::Program mlp = models::build_mlp({.layers = 64, .width = 8192, .batch = 4 * 32000, .dtype = ir::DType::float16});
      const auto d = transform::parallelise(mlp, degrees(1, 1, 4, microbatches));
      const simulate::Cluster& cluster = simulate::cluster_named("dgx2");
      const simulate::Program p = simulate::flatten(d.module, simulate::ClusterCostModel(cluster));
      const auto t = simulate::run_clock(p, cluster, {.folded = false});
      const auto m = simulate::measure_memory(p, false);
      if (t.seconds <= 0 || m.empty()) wrong("a program without time");
      ops = static_cast<double>(t.steps_run);
    });
    print_figure({.what = fmt::format("simulate: an op transformed, inferred, simulated unfolded, of {:.1g} ops", ops),
                  .unit = "us",
                  .ours = 1e6 * seconds / ops,
                  .at_most = 1});
  }
}

void timelines() {
  const auto model = search::transformer_named("gpt3-175b");
  const auto& selene = simulate::cluster_named("selene");
  const auto s = search::parse_strategy("t=8 p=8 d=16 b=1", search::Spelling::brief);
  double ops = 0;
  const double seconds = best_of(50, [&] { ops = search::timeline_of(search::facts_of(model, selene, 1024), s).ops; });
  print_figure({.what = fmt::format("simulate: timeline of GPT-3 175B on 1,024 devices, {:.2g} ops folded", ops),
                .unit = "us",
                .ours = 1e6 * seconds,
                .at_most = 100});
}

void searches() {
  const auto model = search::transformer_named("gpt3-175b");
  const auto& selene = simulate::cluster_named("selene");
  search::Space space{1024, 1024, search::Reach::calculon, 0, ""};
  search::Result quick, slow;
  const double seconds = best_of(3, [&] { quick = search::search(model, selene, space); });
  const double all = seconds_of([&] { slow = search::search(model, selene, space, {.brute_force = true}); });
  if (quick.best.empty() || slow.best.empty() || quick.best[0].index != slow.best[0].index) {
    wrong("the search is not the brute-force search");
  }
  fmt::print("{}", search::to_table(quick));
  print_figure({.what = "search: GPT-3 175B, 1,024 devices, 1,011,120 points, exact",
                .unit = "s",
                .ours = seconds,
                .peer = 1011120 / 203.0,
                .peer_name = "Calculon, 203 points/s",
                .at_most = 10 / (1011120 / 203.0)});
  print_figure({.what = "search: the same, every point evaluated", .unit = "s", .ours = all});
  space = {1536, 4608, search::Reach::everything, 0, ""};
  search::Result wide;
  const double wide_seconds = seconds_of([&] { wide = search::search(model, selene, space); });
  fmt::print("{}", search::to_table(wide));
  print_figure({.what = fmt::format("search: GPT-3 175B, 1,536 devices, all axes, {} points", wide.certificate.points),
                .unit = "s",
                .ours = wide_seconds,
                .at_most = 60});
}

// A GPT of 24 layers on 16 devices, as `pando search PROGRAM --samples tokens,labels --sequence tokens:1,labels:1 --top 5` does it.
void program_searches() {
  for (const bool adam : {false, true}) {
    models::Gpt sizes{.layers = 24, .heads = 16, .width = 1024, .vocabulary = 32000, .sequence = 1024, .batch = 64};
    if (adam) sizes.optimizer.kind = models::Optimizer::adam;
    const transform::Program gpt = transform::annotate(
        models::build_gpt(sizes).module,
        {.batch = {{"tokens", 0}, {"labels", 0}}, .sequence = {{"tokens", 1}, {"labels", 1}}, .expert = {}, .loss = {}});
    search::ProgramResult found;
    const double seconds =
        processor_seconds_of([&] { found = search::search_program(gpt, simulate::cluster_named("h100"), {.devices = 16}, {.top = 5}); });
    if (found.best.size() != 5 || found.certificate.gap() > 0) wrong("the search of a program proves nothing");
    fmt::print("{}", search::to_table(found));
    print_figure({.what = fmt::format("search: a program, GPT of 24 layers{} on 16 devices, {} points, processor time",
                                      adam ? " with Adam" : "", found.certificate.points),
                  .unit = "s",
                  .ours = seconds,
                  .at_most = 5});
  }
}

void published_measurements() {
  const auto sets = measure::compare_published(kData + "distribution");
  fmt::print("{}", measure::to_markdown(sets, true));
  for (const auto& s : sets) {
    const double target = s.name.starts_with("zb")        ? 3
                          : s.name == "selene_steps"      ? 3.65
                          : s.name == "b200_steps"        ? 4.7
                          : s.name == "b200_steps memory" ? 1
                                                          : 0;
    print_figure({.what = fmt::format("predict: {}, mean error of {} rows", s.name, s.rows.size()),
                  .unit = "%",
                  .ours = 100 * s.mean_error(),
                  .at_most = target});
    if (s.pairs == 0) continue;
    print_figure({.what = fmt::format("predict: {}, pairs ranked right of {}", s.name, s.pairs),
                  .unit = "%",
                  .ours = 100 * s.pairs_right,
                  .at_least = 95});
  }
}

}  // namespace

int main() {
  timelines();
  published_grid();
  growing_programs();
  searches();
  program_searches();
  published_measurements();
}
