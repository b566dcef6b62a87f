// Runs the codelets of codelets.cpp on four tiles: per-tile globals, an initial image, and a session that suspends and goes on.
#include <pando/host.hpp>
#include <poplar/Engine.hpp>
#include <poplar/Graph.hpp>
#include <poplar/IPUModel.hpp>
#include <poplar/Program.hpp>

#include <iostream>
#include <vector>

using namespace poplar;
using namespace poplar::program;

namespace {

constexpr unsigned kTiles = 4;

std::vector<unsigned> squares() {
  std::vector<unsigned> table(1024);
  for (unsigned i = 0; i < table.size(); ++i) table[i] = i * i;
  return table;
}

}  // namespace

int main() {
  Device device = IPUModel("ipu2").createDevice();
  Graph graph(device.getTarget());
  graph.addCodelets("codelets.cpp");
  const std::vector<unsigned> table = squares();
  pando::set_image(graph, "squares", table.data(), table.size() * sizeof table[0]);

  Tensor seen = graph.addVariable(UNSIGNED_INT, {kTiles}, "seen"), square = graph.addVariable(UNSIGNED_INT, {kTiles}, "square");
  Tensor sum = graph.addVariable(UNSIGNED_INT, {kTiles}, "sum"), done = graph.addVariable(BOOL, {kTiles}, "done");
  Tensor unused = graph.addVariable(UNSIGNED_INT, {}, "unused");
  ComputeSet count = graph.addComputeSet("count"), use = graph.addComputeSet("use");
  const auto add = [&](ComputeSet step, const char* codelet, unsigned tile) {
    VertexRef v = graph.addVertex(step, codelet);
    graph.setTileMapping(v, tile);
    graph.setPerfEstimate(v, 30);
    return v;
  };
  for (unsigned tile = 0; tile < kTiles; ++tile) {
    for (const Tensor& t : {seen, square, sum, done}) graph.setTileMapping(t[tile], tile);
    graph.connect(add(count, "Count", tile)["seen"], seen[tile]);
    VertexRef lookup = add(use, "Lookup", tile);
    graph.connect(lookup["index"], seen[tile]);
    graph.connect(lookup["value"], square[tile]);
    VertexRef session = add(use, "Session", tile);
    graph.connect(session["number"], seen[tile]);
    graph.connect(session["sum"], sum[tile]);
    graph.connect(session["done"], done[tile]);
  }
  // Tile 1 counts twice in each round: its counter is its own.
  graph.setTileMapping(unused, 1);
  graph.connect(add(count, "Count", 1)["seen"], unused);

  // Three rounds: a session's three numbers are what its tile has seen in them.
  Engine engine(graph, Sequence({Repeat(3, Sequence({Execute(count), Execute(use)})), PrintTensor("seen", seen),
                                 PrintTensor("square", square), PrintTensor("sum", sum), PrintTensor("done", done)}));
  engine.setPrintStream(std::cout);
  engine.load(device);
  engine.run(0);
  return 0;
}
