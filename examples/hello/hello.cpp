// The smallest program: one vertex on each of four tiles doubles four numbers. This file is its own codelet file.
#include <poplar/Vertex.hpp>

#ifdef __POPC__

class Double : public poplar::Vertex {
 public:
  poplar::Input<poplar::Vector<float>> in;
  poplar::Output<poplar::Vector<float>> out;

  bool compute() {
    for (unsigned i = 0; i < in.size(); ++i) out[i] = 2 * in[i];
    return true;
  }
};

#else

#include <poplar/Engine.hpp>
#include <poplar/Graph.hpp>
#include <poplar/IPUModel.hpp>
#include <poplar/Program.hpp>

#include <iostream>

using namespace poplar;
using namespace poplar::program;

int main() {
  Device device = IPUModel("ipu2").createDevice();
  Graph graph(device.getTarget());
  graph.addCodelets(__FILE__);

  Tensor x = graph.addConstant<float>(FLOAT, {4, 4}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15});
  Tensor y = graph.addVariable(FLOAT, {4, 4}, "y");
  ComputeSet step = graph.addComputeSet("double");
  for (unsigned tile = 0; tile < 4; ++tile) {
    graph.setTileMapping(x[tile], tile);
    graph.setTileMapping(y[tile], tile);
    VertexRef v = graph.addVertex(step, "Double");
    graph.setTileMapping(v, tile);
    graph.connect(v["in"], x[tile]);
    graph.connect(v["out"], y[tile]);
    graph.setPerfEstimate(v, 20);
  }

  // A transposed view: the printed columns come from four tiles.
  Engine engine(graph, Sequence({Execute(step), PrintTensor("y, transposed", y.transpose())}));
  engine.setPrintStream(std::cout);
  engine.load(device);
  engine.run(0);
  return 0;
}

#endif
