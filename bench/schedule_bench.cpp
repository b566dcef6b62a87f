// Pipeline schedules: made, checked, lowered to transfers; and how long a search for one takes.
#include "bench.h"
#include "schedule/generate.h"
#include "schedule/lower.h"

#include <ctime>

using namespace pando;
using namespace pando::bench;

namespace {

// Of this process: other programs on the host do not count. The best of many, as for hosts that do other things, too.
double processor_seconds_of(const std::function<void()>& work) {
  double best = 1e30;
  for (int i = 0; i < 20; ++i) {
    const std::clock_t begin = std::clock();
    work();
    best = std::min(best, static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
  }
  return best;
}

// Seconds of PyTorch 2.15 on a like host, for an action: to make the table, and to make and lower it.
constexpr double kTorchMakes = 107, kTorchMakesV = 140, kTorchLowers = 18;

void one(const char* name, const schedule::Shape& shape, double torch_makes) {
  schedule::Table table, lowered;
  bool good = true;
  const double makes = processor_seconds_of([&] { table = schedule::generate(name, shape); });
  const double checks = processor_seconds_of([&] { good = !schedule::first_broken_rule(table); });
  const double lowers = processor_seconds_of([&] { lowered = schedule::lower(table); });
  if (!good) std::exit(1);
  const auto passes = static_cast<double>(table.cells()), actions = static_cast<double>(lowered.cells());
  const std::string what = fmt::format("schedule: {}, {} ranks, {} microbatches", name, shape.ranks, shape.microbatches);
  print_figure({.what = what + ": a pass made", .unit = "us", .ours = 1e6 * makes / passes, .peer = torch_makes, .peer_name = "PyTorch"});
  print_figure({.what = what + ": a pass checked", .unit = "us", .ours = 1e6 * checks / passes});
  print_figure({.what = fmt::format("{}: an action of {} made, checked and lowered", what, lowered.cells()),
                .unit = "us",
                .ours = 1e6 * (makes + checks + lowers) / actions,
                .peer = kTorchLowers,
                .peer_name = "PyTorch",
                .at_most = 0.1 / kTorchLowers});
}

void searched(const char* name, double published) {
  double span = 0;
  const double seconds = seconds_of([&] { span = schedule::replay(schedule::generate(name, {4, 8, 2})).span; });
  print_figure({.what = fmt::format("schedule: {}, 4 ranks, 8 microbatches, units of time", name),
                .unit = "units",
                .ours = span,
                .at_most = published});
  print_figure({.what = fmt::format("schedule: {}, 4 ranks, 8 microbatches, found in", name), .unit = "s", .ours = seconds});
}

}  // namespace

int main() {
  one("1F1B", {32, 256, 1}, 0);
  one("Interleaved1F1B", {32, 256, 2}, kTorchMakes);
  one("Interleaved1F1B", {8, 64, 2}, kTorchMakes);
  one("ZB-H1", {32, 256, 1}, 0);
  one("ZBV", {32, 256, 2}, kTorchMakesV);
  one("DualPipeV", {32, 256, 2}, kTorchMakesV);
  searched("V-Half", 53);
  searched("V-Min", 59);
  searched("V-1F1B", 63);
}
