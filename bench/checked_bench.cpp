// What checked codelets cost (pando.checked): users' loops with and without, in turns in one process, on all tiles of an IPU.
#include <poplar/Engine.hpp>
#include <poplar/Graph.hpp>
#include <poplar/IPUModel.hpp>
#include <poplar/Program.hpp>

#include <string_view>

#include "base/testing/places.h"
#include "bench.h"

namespace pando::bench {
namespace {

using namespace poplar;

constexpr unsigned kTiles = 1472, kWorkers = 6;

struct Loop {
  const char* what;
  const char* vertex;
  std::size_t elements;  // of a vertex
};
constexpr Loop kLoops[] = {{"a stencil, rows of 512", "StencilRow", 512},
                           {"a stencil, rows of 16", "StencilRow", 16},
                           {"lattice Boltzmann, rows of 128", "LatticeRow", 128},
                           {"counts of bytes, blocks of 2 KiB", "CountBytes", 2048}};

class Program {
 public:
  explicit Program(const Loop& loop)
      : device_(IPUModel("ipu2").createDevice()), graph_(device_.getTarget()), set_(graph_.addComputeSet("loops")) {
    graph_.addCodelets(source_path("bench/codelets/programs.cpp"));
    for (unsigned i = 0; i < kTiles * kWorkers; ++i) add_vertex(loop, i / kWorkers);
  }
  Engine engine(bool checked) {
    Engine e(graph_, program::Repeat(20, program::Execute(set_)),
             {{"pando.checked", checked ? "true" : "false"}, {"pando.cycleModel", "false"}});
    e.load(device_);
    e.run();
    return e;
  }

 private:
  Tensor variable(const Type& type, std::size_t n, unsigned tile) {
    const Tensor t = graph_.addVariable(type, {n});
    graph_.setTileMapping(t, tile);
    return t;
  }

  void add_vertex(const Loop& loop, unsigned tile) {
    const VertexRef v = graph_.addVertex(set_, loop.vertex);
    graph_.setTileMapping(v, tile);
    const std::string name = loop.vertex;
    if (name == "StencilRow") {
      for (const char* field : {"own", "up", "down", "near", "far"}) graph_.connect(v[field], variable(FLOAT, loop.elements + 2, tile));
      graph_.connect(v["out"], variable(FLOAT, loop.elements, tile));
    } else if (name == "LatticeRow") {
      graph_.connect(v["in"], variable(FLOAT, 9 * (loop.elements + 2), tile).reshape({9, loop.elements + 2}));
      graph_.connect(v["out"], variable(FLOAT, 9 * (loop.elements + 2), tile).reshape({9, loop.elements + 2}));
      graph_.setInitialValue(v["width"], static_cast<unsigned>(loop.elements));
      graph_.setInitialValue(v["omega"], 0.5f);
    } else {
      graph_.connect(v["in"], variable(UNSIGNED_CHAR, loop.elements, tile));
      graph_.connect(v["counts"], variable(UNSIGNED_INT, 256, tile));
    }
  }

  Device device_;
  Graph graph_;
  ComputeSet set_;
};

int run(std::string_view wanted) {
  for (const Loop& loop : kLoops) {
    if (std::string_view(loop.what).find(wanted) == std::string_view::npos) continue;
    Program program(loop);
    Engine plain = program.engine(false), checked = program.engine(true);
    double least = 1e30, least_checked = 1e30;
    for (unsigned i = 0; i < 7; ++i) {
      least = std::min(least, seconds_of([&] { plain.run(); }));
      least_checked = std::min(least_checked, seconds_of([&] { checked.run(); }));
    }
    print_figure({.what = fmt::format("checked codelets: {}, 20 steps", loop.what),
                  .unit = "ms",
                  .ours = 1e3 * least_checked,
                  .peer = 1e3 * least,
                  .peer_name = "unchecked",
                  .at_most = 3});
  }
  return 0;
}

}  // namespace
}  // namespace pando::bench

// checked_bench [WORDS]: the loops whose name has them.
int main(int argc, char** argv) { return pando::bench::run(argc > 1 ? argv[1] : ""); }
