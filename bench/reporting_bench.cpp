// What a report costs: a program of 100,000 executed steps on all tiles of an IPU, run with and without one, in turns. The file is written
// within the run. The processor's time is compared, that of all threads: others who use the host do not count.
#include <poplar/Engine.hpp>
#include <poplar/Graph.hpp>
#include <poplar/IPUModel.hpp>
#include <poplar/Program.hpp>

#include <unistd.h>

#include <filesystem>

#include "base/testing/places.h"
#include "bench.h"

namespace pando::bench {
namespace {

using namespace poplar;

constexpr unsigned kTiles = 1472, kRow = 16, kSets = 10, kSteps = 100'000;

// Rows of a stencil, one on each tile; what a step makes goes to the tiles above and below.
class Stencil {
 public:
  Stencil() : device_(IPUModel("ipu2").createDevice()), graph_(device_.getTarget()) {
    graph_.addCodelets(source_path("bench/codelets/programs.cpp"));
    program::Sequence round;
    const Tensor rows = spread("rows"), above = spread("above"), below = spread("below"), next = spread("next");
    for (unsigned s = 0; s < kSets; ++s) {
      const ComputeSet set = graph_.addComputeSet("stencil" + std::to_string(s));
      for (unsigned tile = 0; tile < kTiles; ++tile) {
        const VertexRef v = graph_.addVertex(set, "StencilRow");
        graph_.setTileMapping(v, tile);
        for (const auto& [field, tensor] : {std::pair{"own", rows}, {"up", above}, {"down", below}, {"near", above}, {"far", below}})
          graph_.connect(v[field], tensor[tile]);
        graph_.connect(v["out"], next[tile].slice(1, kRow + 1));
      }
      round.add(program::Execute(set));
      round.add(program::Copy(next.slice(0, kTiles - 1), below.slice(1, kTiles)));
    }
    program_ = program::Repeat(kSteps / (2 * kSets), round);
  }

  Engine engine(const std::string& folder) {
    OptionFlags options;
    if (!folder.empty()) options = {{"autoReport.all", "true"}, {"autoReport.directory", folder}};
    Engine e(graph_, program_, options);
    e.load(device_);
    return e;
  }

 private:
  Tensor spread(const char* name) {
    const Tensor t = graph_.addVariable(FLOAT, {kTiles, kRow + 2}, name);
    for (unsigned tile = 0; tile < kTiles; ++tile) graph_.setTileMapping(t[tile], tile);
    return t;
  }

  Device device_;
  Graph graph_;
  program::Program program_;
};

void run() {
  Stencil stencil;
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / fmt::format("pando_reporting_bench_{}", getpid());
  double plain = 1e30, reporting = 1e30;
  Engine without = stencil.engine("");
  for (unsigned i = 0; i < 3; ++i) {
    plain = std::min(plain, processor_seconds_of([&] { without.run(); }));
    Engine with = stencil.engine(folder.string());
    reporting = std::min(reporting, processor_seconds_of([&] { with.run(); }));
  }
  const double megabytes = static_cast<double>(std::filesystem::file_size(folder / "profile.pando")) / 1e6;
  std::filesystem::remove_all(folder);
  print_figure({.what = "report: a run of 1,472 tiles x 10^5 steps that writes one",
                .unit = "s of processor time",
                .ours = reporting,
                .peer = plain,
                .peer_name = "without a report",
                .at_most = 1.1});
  print_figure({.what = "report: its file", .unit = "MB", .ours = megabytes, .at_most = 50});
}

}  // namespace
}  // namespace pando::bench

int main(int, char** argv) {
  return pando::bench::exit_status(argv[0], [] { pando::bench::run(); });
}
