// Predictions beside runs: MLPs and small GPTs on 2 to 16 IPUs against the cycle model, and on one and two threads
// of this host, and on one and two MPI ranks.
#include "base/testing/places.h"
#include "bench.h"
#include "measure/grid.h"

#include "simulate/ipu_cluster.h"

#include <cstdlib>
#include <fstream>

using namespace pando;
using namespace pando::bench;

namespace {

void show(const measure::Pair& p) { fmt::print("{}\n", measure::to_text(p)); }

void picture(const std::string& name, const measure::Grid& g, const std::string& title) {
  std::ofstream(build_path("bench/") + name) << measure::scatter_svg(g, title);
}

void report(const std::string& where, const measure::Grid& g) {
  print_figure({.what = fmt::format("predict: {}, {} steps of training, rank correlation", where, g.pairs.size()),
                .unit = "",
                .ours = g.rank_correlation(),
                .at_least = 0.9});
  print_figure({.what = fmt::format("predict: {}, mean error", where), .unit = "%", .ours = 100 * g.mean_error()});
}

}  // namespace

int main() {
  const auto ipus = measure::compare_on_ipus(measure::ipu_configurations(), *simulate::ipu_cluster_named("ipu2:256"), "ipu2", 256, show);
  report("2 to 16 IPUs of 256 tiles, cycle model", ipus);
  picture("predicted_on_ipus.svg", ipus, "simulated against the cycle model, ipu2:256");
  const auto host = measure::compare_on_host(measure::host_configurations(), measure::calibrate_runs(4), 0.4, show);
  report("this host, sessions on 1 and 2 threads", host);
  picture("predicted_in_sessions.svg", host, "simulated against this host");
  if (std::system("mpirun --version >/dev/null 2>&1") != 0) return 0;
  for (const char* name : {"OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"}) setenv(name, "1", 1);
  using measure::HostRun;
  const auto calibrated = measure::calibrate_runs(4, HostRun::ranks);
  const auto ranks = measure::compare_on_host(measure::host_configurations(), calibrated, 0.4, show, HostRun::ranks);
  report("this host, 1 and 2 MPI ranks", ranks);
  picture("predicted_on_ranks.svg", ranks, "simulated against MPI ranks on this host");
}
