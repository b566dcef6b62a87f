// Replication: the same program on several copies of the machine.
#include "world.h"

namespace conformance {
namespace {

using poplar::Tensor;
using namespace poplar::program;

// Replicas need a machine of several IPUs: the target counts them all.
void replica_index_and_copies_across(World& w) {
  const Tensor index = w.graph.addReplicationIndexConstant("index");
  w.map(index);
  const Tensor mine = w.variable(poplar::UNSIGNED_INT, {1}, "mine"), theirs = w.variable(poplar::UNSIGNED_INT, {1}, "theirs");
  w.expect(w.graph.getReplicationFactor() == 2, "the replication factor");
  w.program.add(Copy(index.reshape({1}), mine));
  w.program.add(CrossReplicaCopy(mine, theirs, {{0, 1}, {1, 0}}));
  w.readable("mine", mine);
  w.readable("theirs", theirs);
  w.engine();
  w.run();
  w.expect(w.read<unsigned>("mine", 1), {0, 1}, "each replica's index");
  w.expect(w.read<unsigned>("theirs", 1), {1, 0}, "swapped");
}

void replicated_streams(World& w) {
  const Tensor v = w.variable(poplar::FLOAT, {2}, "v"), b = w.variable(poplar::FLOAT, {1}, "b");
  const poplar::DataStream in = w.graph.addHostToDeviceFIFO("in", poplar::FLOAT, 2, poplar::ReplicatedStreamMode::REPLICATE);
  const poplar::DataStream all = w.graph.addHostToDeviceFIFO("all", poplar::FLOAT, 1, poplar::ReplicatedStreamMode::BROADCAST);
  w.program.add(Copy(in, v));
  w.program.add(Copy(all, b));
  w.readable("v", v);
  w.readable("b", b);
  poplar::Engine& engine = w.engine();
  for (unsigned r = 0; r < 2; ++r)
    engine.connectStreamToCallback("in", r, [r](void* p) {
      const float block[2] = {10.0f * r, 10.0f * r + 1};
      std::memcpy(p, block, sizeof block);
    });
  static float one = 5;
  engine.connectStream("all", &one, &one + 1);
  w.run();
  w.expect(w.read<float>("v", 2), {0, 1, 10, 11}, "a stream per replica");
  w.expect(w.read<float>("b", 1), {5, 5}, "one stream for both");
}

void replicas_take_their_own_branches(World& w) {
  w.add_codelets("fields.cpp");
  const Tensor index = w.graph.addReplicationIndexConstant("index");
  w.map(index);
  const Tensor v = w.counting({2}, "v");
  const poplar::ComputeSet set = w.graph.addComputeSet("cs");
  const poplar::VertexRef vertex = w.vertex(set, "PlusOne");
  w.graph.connect(vertex["x"], v);
  w.graph.connect(vertex["y"], v);
  w.program.add(If(index, Repeat(3, Execute(set)), Sequence()));
  w.readable("v", v);
  w.engine();
  w.run();
  w.expect(w.read<float>("v", 2), {0, 1, 3, 4}, "only replica 1 counts");
}

}  // namespace

std::vector<Case> replica_cases() {
  return {{"replica_index_and_copies_across", replica_index_and_copies_across, 2},
          {"replicated_streams", replicated_streams, 2},
          {"replicas_take_their_own_branches", replicas_take_their_own_branches, 2}};
}

}  // namespace conformance
