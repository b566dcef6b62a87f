// A product of two matrices, for docs/guide/find-a-slow-step.md: `product slow` maps its operands as they come, `product fast` as the
// product wants them.
#include <poplar/Engine.hpp>
#include <poplar/Graph.hpp>
#include <poplar/IPUModel.hpp>
#include <poplar/Program.hpp>
#include <poplin/MatMul.hpp>
#include <poplin/codelets.hpp>
#include <popops/codelets.hpp>
#include <poputil/TileMapping.hpp>

#include <string>
#include <vector>

using namespace poplar;

int main(int argc, char** argv) {
  const bool fast = argc > 1 && std::string(argv[1]) == "fast";
  IPUModel model;
  Device device = model.createDevice();
  Graph graph(device.getTarget());
  popops::addCodelets(graph);
  poplin::addCodelets(graph);

  const std::vector<std::size_t> shape{1024, 1024};
  Tensor images, weights;
  if (fast) {
    images = poplin::createMatMulInputLHS(graph, FLOAT, shape, shape, "images");
    weights = poplin::createMatMulInputRHS(graph, FLOAT, shape, shape, "weights");
  } else {
    images = graph.addVariable(FLOAT, shape, "images");
    for (unsigned row = 0; row < 1024; ++row) graph.setTileMapping(images[row], row / 64);
    weights = graph.addVariable(FLOAT, shape, "weights");
    poputil::mapTensorLinearly(graph, weights);
    weights = weights.transpose();
  }

  program::Sequence program;
  Tensor product = poplin::matMul(graph, images, weights, program, FLOAT, "product");
  graph.createHostRead("product", product);
  Engine engine(graph, program);
  engine.load(device);
  engine.run(0);
}
