#include "world.h"
#include "base/testing/places.h"

#include <algorithm>
#include <numeric>

namespace conformance {

using poplar::Tensor;

namespace {

// Replicas share the IPUs of a machine out among them.
poplar::Device device_for(const Machine& machine, unsigned replicas) {
  poplar::Device device = machine.device();
  if (device.getTarget().getNumIPUs() % replicas != 0) throw World::Declined{};
  return device;
}

}  // namespace

World::World(const Machine& machine, unsigned replicas)
    : device(device_for(machine, replicas)),
      graph(device.getTarget(), poplar::replication_factor(replicas)),
      machine_(machine),
      graph_replicas_(replicas) {}

// A fixed walk over all tiles that does not visit neighbours in a row.
unsigned World::tile() {
  const unsigned tiles = graph.getTarget().getNumTiles();
  return (tiles_used_++ * 711u + (machine_.uneven ? 13u : 0u)) % tiles;
}

void World::map(const Tensor& tensor) {
  if (!machine_.uneven) return graph.setTileMapping(tensor, tile());
  const Tensor flat = tensor.flatten();
  std::size_t length = 1;
  for (std::size_t begin = 0; begin < flat.numElements(); length = length * 5 % 7 + 1) {
    const std::size_t end = std::min(flat.numElements(), begin + length);
    graph.setTileMapping(flat.slice(begin, end), tile());
    begin = end;
  }
}

Tensor World::variable(const poplar::Type& type, std::vector<std::size_t> shape, const std::string& name) {
  const Tensor t = graph.addVariable(type, shape, name);
  map(t);
  return t;
}

Tensor World::counting(std::vector<std::size_t> shape, const std::string& name, float first) {
  std::vector<float> values(std::accumulate(shape.begin(), shape.end(), std::size_t{1}, std::multiplies<>()));
  std::iota(values.begin(), values.end(), first);
  return variable(poplar::FLOAT, std::move(shape), values, name);
}

poplar::VertexRef World::vertex(poplar::ComputeSet set, const std::string& type) {
  const poplar::VertexRef v = graph.addVertex(set, type);
  graph.setTileMapping(v, tile());
  return v;
}

void World::add_codelets(const std::string& file) { graph.addCodelets(pando::source_path("tests/conformance/cases/codelets/" + file)); }

poplar::Engine& World::engine(std::vector<poplar::program::Program> programs) {
  if (programs.empty()) programs.push_back(program);
  engine_ = std::make_unique<poplar::Engine>(graph, programs);
  engine_->load(device);
  return *engine_;
}

}  // namespace conformance
