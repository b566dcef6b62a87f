// Runs the codelet of normalise.cpp, compiled with lines, on rows of different lengths: lines CODELET
#include <poplar/Engine.hpp>
#include <poplar/Graph.hpp>
#include <poplar/IPUModel.hpp>
#include <poplar/Program.hpp>

using namespace poplar;

int main(int, char** argv) {
  IPUModel model("tiny4");
  Device device = model.createDevice();
  Graph graph(device.getTarget());
  graph.addCodelets(argv[1], CodeletFileType::Auto, "-g");
  ComputeSet rows = graph.addComputeSet("normalise");
  program::Sequence program;
  for (unsigned row = 0; row < 8; ++row) {
    Tensor in = graph.addVariable(FLOAT, {64 + 16 * row}, "row"), out = graph.addVariable(FLOAT, {64 + 16 * row}, "normalised");
    graph.setTileMapping(in, row % 4);
    graph.setTileMapping(out, (row + 1) % 4);
    VertexRef v = graph.addVertex(rows, "Normalise", {{"in", in}, {"out", out}});
    graph.setTileMapping(v, row % 4);
    graph.createHostRead("out" + std::to_string(row), out);
    program.add(program::WriteUndef(in));
  }
  program.add(program::Execute(rows));
  Engine engine(graph, program::Repeat(10, program));
  engine.load(device);
  engine.run(0);
}
