// Overlapped input and output: four IO tiles talk to the host while the other tiles compute. Nothing declares the overlap: the
// IO tiles are touched by copies only, so they run a stream of instructions of their own, and the two streams sync only at the
// copies between them.
#include <poplar/Vertex.hpp>

#ifdef __POPC__

// y = sum of x, slowly enough for the copies to have something to hide behind.
class Sum : public poplar::Vertex {
 public:
  poplar::Input<poplar::Vector<int>> x;
  poplar::Output<int> y;

  bool compute() {
    int total = 0;
    for (unsigned i = 0; i < x.size(); ++i) total += x[i];
    *y = total;
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
  const unsigned kIoTiles = 4, kVertices = 16, kElements = 64, kBatches = 6;
  Device device = IPUModel("ipu2").createDevice();
  Graph graph(device.getTarget());
  graph.addCodelets(__FILE__);
  const unsigned tiles = graph.getTarget().getNumTiles();
  Graph io = graph.createVirtualGraph(0, kIoTiles), compute = graph.createVirtualGraph(kIoTiles, tiles);

  Tensor next = io.addVariable(INT, {kVertices, kElements}, "next");
  Tensor results = io.addVariable(INT, {kVertices}, "results");
  for (unsigned i = 0; i < kVertices; ++i) {
    io.setTileMapping(next[i], i % kIoTiles);
    io.setTileMapping(results[i], i % kIoTiles);
  }
  Tensor x = compute.addVariable(INT, {kVertices, kElements}, "x");
  Tensor y = compute.addVariable(INT, {kVertices}, "y");
  ComputeSet sums = compute.addComputeSet("sums");
  for (unsigned i = 0; i < kVertices; ++i) {
    compute.setTileMapping(x[i], i);
    compute.setTileMapping(y[i], i);
    VertexRef v = compute.addVertex(sums, "Sum");
    compute.setTileMapping(v, i);
    compute.connect(v["x"], x[i]);
    compute.connect(v["y"], y[i]);
    compute.setPerfEstimate(v, 20 + kElements);
  }

  DataStream in = graph.addHostToDeviceFIFO("in", INT, next.numElements());
  DataStream out = graph.addDeviceToHostFIFO("out", INT, results.numElements());
  // While `sums` works on one batch, the IO tiles fetch the next one and send the last results away.
  Program batch = Sequence({Copy(next, x),         // both streams
                            Copy(in, next),        // IO tiles
                            Execute(sums),         // compute tiles
                            Copy(y, results),      // both streams
                            Copy(results, out)});  // IO tiles
  Engine engine(graph, Sequence({Copy(in, next), Repeat(kBatches, batch)}));
  engine.load(device);

  int fetched = 0;
  engine.connectStreamToCallback("in", [&](void* p) {
    int* block = static_cast<int*>(p);
    for (unsigned i = 0; i < kVertices * kElements; ++i) block[i] = fetched * 1000 + int(i / kElements);
    ++fetched;
  });
  engine.connectStreamToCallback("out", [](void* p) {
    const int* sum = static_cast<const int*>(p);
    std::cout << "sums:";
    for (unsigned i = 0; i < kVertices; i += 5) std::cout << " " << sum[i];
    std::cout << "\n";
  });
  engine.run(0);
  std::cout << fetched << " batches fetched\n";
  return 0;
}

#endif
