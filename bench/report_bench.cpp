// A long report: 1,472 tiles x 10^5 steps that share nothing. How large its file is, how long it takes to write and to read, and what a
// program of 10^7 executed steps adds. `report_bench FILE` keeps the file, for the viewer.
#include <fstream>
#include <random>
#include <sstream>

#include "bench.h"
#include "cycles/trace_fold.h"
#include "profile/report.h"

namespace pando::bench {
namespace {

constexpr std::uint32_t kTiles = 1472, kSteps = 100'000;

// Every step has cycles of its own on every tile; the first ones are kept tile by tile, as the cycle model keeps them.
profile::TileProfile profile_of(std::mt19937& random, bool exact) {
  profile::TileProfile p{exact, {}};
  const std::uint32_t parts = exact ? kTiles : 64;
  for (std::uint32_t i = 0; i < parts; ++i)
    p.ranges.insert(p.ranges.end(), {std::uint64_t{i} * kTiles / parts, std::uint64_t{i + 1} * kTiles / parts, 500 + random() % 1000});
  return p;
}

profile::Report long_report() {
  std::mt19937 random(1);
  profile::Report r;
  r.target = {"ipu2", 1, kTiles, kTiles, 6, 1, 638'976, 1.33e9};
  r.categories = {{"variable", false, 0}};
  r.tiles.assign(kTiles, {300'000, 310'000, {300'000}, 100'000});
  r.block_streams = {{"ipu0.compute", 0, false, {0, kTiles}}};
  r.liveness = {{"ipu0.compute", 0, {}}};
  r.executed = true;
  r.runs = 1;
  r.streams = {{"ipu0.compute", {}, 0}};
  r.traces.resize(1);
  std::size_t ranges = 0;
  for (std::uint32_t i = 0; i < kSteps; ++i) {
    const std::string name = "layer" + std::to_string(i / 100) + "/step" + std::to_string(i % 100);
    r.program.push_back({i, name, "compute", 0});
    r.liveness[0].steps.push_back(
        {i, name, random() % 100'000'000, 300'000 + random() % 300'000, static_cast<std::uint32_t>(random() % kTiles)});
    r.tile_profiles.push_back(profile_of(random, ranges < 4'000'000));
    ranges += r.tile_profiles.back().ranges.size() / 3;
    profile::StepCycles s{"ipu0.compute", name, "compute", 1, {500 + random() % 1000, random() % 500, 0, 90, 0, 0, 0}, 8832, 0, 0, 0.8, i};
    s.profile = i + 1;
    s.slowest_tile = static_cast<std::uint32_t>(random() % kTiles);
    r.streams[0].cycles = r.streams[0].cycles + s.cycles;
    r.traces[0].push_back({i, 0, 0, s.cycles.total(), 1});
    r.steps.push_back(std::move(s));
  }
  r.streams[0].finish = r.total_cycles = r.streams[0].cycles.total();
  return r;
}

double fold_seconds(std::uint32_t steps) {
  return best_of(3, [&] {
    cycles::TraceFold fold;
    for (std::uint32_t i = 0; i < steps; ++i) fold.add(i % 100, i % 7, 100);
    if (fold.rows().size() > 10'000) std::abort();
  });
}

// Bytes of the rows that a stream keeps of so many executed steps, none of which is like another.
double kept_megabytes(std::uint32_t steps) {
  std::mt19937_64 random(2);
  cycles::TraceFold fold;
  for (std::uint32_t i = 0; i < steps; ++i) fold.add(i % 1000, random() % 1000, random() % 100'000);
  if (fold.rows().size() + fold.lost() != steps) std::abort();
  return static_cast<double>(fold.rows().size() * sizeof(profile::TraceRow)) / 1e6;
}

int run(const char* file) {
  const profile::Report report = long_report();
  std::string bytes;
  const double written = best_of(2, [&] {
    std::ostringstream out;
    profile::write_report(report, out);
    bytes = out.str();
  });
  const double read = best_of(2, [&] {
    if (profile::read_report(bytes).steps.size() != kSteps) std::abort();
  });
  constexpr std::uint32_t kExecuted = 10'000'000;
  const double fold = fold_seconds(kExecuted);
  if (file) std::ofstream(file, std::ios::binary) << bytes;
  fmt::print("report of 1,472 tiles x 10^5 steps: {:.1f} MB, written in {:.2f} s, read in {:.2f} s; folding: {:.0f} ns a step\n",
             static_cast<double>(bytes.size()) / 1e6, written, read, fold / kExecuted * 1e9);
  print_figure(
      {.what = "report: 1,472 tiles x 10^5 steps, the file", .unit = "MB", .ours = static_cast<double>(bytes.size()) / 1e6, .at_most = 50});
  print_figure({.what = "report: writing it", .unit = "s", .ours = written});
  print_figure({.what = "report: reading it", .unit = "s", .ours = read});
  print_figure({.what = "report: the trace, an executed step", .unit = "ns", .ours = fold / kExecuted * 1e9});
  print_figure({.what = "report: memory of the trace of 10^7 steps that never repeat",
                .unit = "MB",
                .ours = kept_megabytes(kExecuted),
                .at_most = 50});
  return 0;
}

}  // namespace
}  // namespace pando::bench

int main(int argc, char** argv) { return pando::bench::run(argc > 1 ? argv[1] : nullptr); }
