// The cycle model against published measurements, and what it costs to run it.
//   cycles_bench [AMP.csv]    the file of tests/data/ipu, or one with more rows of the same columns
#include <fmt/format.h>

#include <string>
#include <vector>

#include "base/testing/places.h"
#include "bench.h"
#include "cycles/validation.h"

namespace {

using namespace pando;
using namespace pando::cycles;

void print_row(const Validation& v) {
  std::string measured = v.measured_low == v.measured_high ? fmt::format("{:.1f}", v.measured_low)
                                                           : fmt::format("{:.0f}..{:.0f}", v.measured_low, v.measured_high);
  fmt::print("{:<46} {:>12} {:>10.1f} {:>7.2f} % {:>8.0f} %  {}{}\n", v.check, measured, v.predicted, 100 * v.error(), 100 * v.tolerance,
             v.fitted ? "fitted" : "held out", v.is_met() ? "" : "  NOT MET");
}

void print_amp_summary(const std::vector<Validation>& rows) {
  for (bool fitted : {true, false}) {
    double sum = 0, worst = 0;
    int n = 0;
    for (const Validation& v : rows) {
      if (v.fitted != fitted) continue;
      sum += v.error();
      worst = std::max(worst, v.error());
      ++n;
    }
    if (n == 0) continue;
    const std::string what = fmt::format("AMP f16, {} {} sizes, ", n, fitted ? "fitted" : "held-out");
    bench::print_figure({.what = what + "mean error", .unit = "%", .ours = 100 * sum / n});
    bench::print_figure({.what = what + "worst error", .unit = "%", .ours = 100 * worst, .at_most = fitted ? 0.0 : 2.0});
  }
}

// 32 IPUs, 40 allocations on every tile, half of them alive for a part of 1,000 steps.
void time_memory_report() {
  Machine machine = *find_machine("ipu2");
  machine.ipus = 32;
  HandProgram hand(machine);
  CodeletId c = hand.codelet("V", VertexKind::multi);
  for (std::uint32_t i = 0; i < 1000; ++i) hand.compute(i % 32, "step", {{c, i % 32 * 1472, 1}});
  tile::Program& p = *hand.program();
  for (std::uint32_t i = 0; i < 20; ++i) {
    p.live_ranges.push_back({{i * 40, i * 40 + 100}});
    hand.name("variable");
  }
  for (std::uint32_t t = 0; t < machine.tiles(); ++t)
    for (std::uint32_t i = 0; i < 40; ++i)
      p.allocations.push_back(
          {TileId(t), tile::NameId(i % 20), static_cast<tile::Category>(i % 4), i < 20, false, i * 1024, 512 + t % 64, i % 20});
  Library library = hand.library();
  profile::Report report;
  double seconds = bench::seconds_of([&] { fill_memory(p, library, report); });
  bench::print_figure(
      {.what = fmt::format("memory report, {} tiles x 40 allocations", machine.tiles()), .unit = "s", .ours = seconds, .at_most = 2});
}

void time_steps() {
  HandProgram hand(*find_machine("ipu2"));
  CodeletId c = hand.codelet("V", VertexKind::worker);
  std::vector<HandProgram::Work> work;
  for (std::uint32_t t = 0; t < 1472; ++t)
    for (int i = 0; i < 6; ++i) work.push_back({c, t, 100});
  hand.compute(0, "step", work);
  CycleModel model(hand.program(), hand.library());
  model.on_begin(0);
  double first = bench::seconds_of([&] { model.on_step({ReplicaId(0), StreamId(0), 0}); });
  constexpr int kSteps = 10'000'000;
  double rest = bench::seconds_of([&] {
    for (int i = 0; i < kSteps; ++i) model.on_step({ReplicaId(0), StreamId(0), 0});
  });
  bench::print_figure({.what = "cycle model, a step of 8,832 vertices, first time", .unit = "us", .ours = first * 1e6});
  bench::print_figure({.what = "cycle model, the same step again", .unit = "ns", .ours = rest / kSteps * 1e9, .at_most = 100});
}

}  // namespace

int main(int argc, char** argv) {
  std::string csv = argc > 1 ? argv[1] : source_path("tests/data/ipu/bow_amp_f16_matmul_Nx16x16.csv");
  fmt::print("{:<46} {:>12} {:>10} {:>9} {:>10}\n", "check (cycles)", "measured", "predicted", "error", "tolerance");
  std::vector<Validation> amp = amp_validations(read_amp_points(csv));
  double within = 0, all = 0;
  for (const auto& rows : {amp, addition_validations(), phase_validations(), landing_validations()})
    for (const Validation& v : rows) {
      print_row(v);
      ++all;
      within += v.is_met();
    }
  print_amp_summary(amp);
  bench::print_figure({.what = "cycle model, published measurements within tolerance",
                       .unit = "rows",
                       .ours = within,
                       .peer = all,
                       .peer_name = "all rows",
                       .at_least = 1});
  fmt::print("not checked: {} (no measurement that can be rebuilt)\n\n", kNotValidated);
  time_memory_report();
  time_steps();
}
