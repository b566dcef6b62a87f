// Replicated graphs within a graph: each replica does what is written once, and the graph around them sees all of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poplar/CSRFunctions.hpp>
#include <poplar/CycleCount.hpp>
#include <poplar/LateInitCallback.hpp>
#include <poplar/RandomSeed.hpp>
#include <poplar/exceptions.hpp>

#include <sstream>

#include "setting.h"

namespace api {
namespace {

using namespace poplar;
using namespace poplar::program;
using testing::Each, testing::ElementsAre, testing::HasSubstr;

template <class F>
std::string replication_error(F&& f) {
  try {
    f();
  } catch (const graph_replication_error& e) { return e.what(); }
  return "no error";
}

Tensor on_tile(Graph& graph, const Type& type, std::vector<std::size_t> shape, const std::string& name, unsigned tile = 0) {
  const Tensor t = graph.addVariable(type, shape, name);
  graph.setTileMapping(t, tile);
  return t;
}

void scale(Graph& graph, ComputeSet set, const Tensor& x, const Tensor& y, float factor, unsigned tile = 0) {
  graph.setTileMapping(graph.addVertex(set, "Scale", {{"x", x}, {"y", y}, {"factor", factor}}), tile);
}

std::vector<float> read(Engine& engine, const std::string& handle, std::size_t n) {
  std::vector<float> values(n);
  engine.readTensor(handle, values.data(), values.data() + n);
  return values;
}

// What the replicas have is reached, combined and set by the graph around them.
TEST(ReplicatedGraph, TensorsOfAllReplicas) {
  Setting s(1);  // of 4 tiles
  s.add_codelets();
  Graph part = s.graph.createReplicatedGraph(2);
  EXPECT_EQ(part.getReplicationFactor(), 2u);
  EXPECT_EQ(s.graph.getReplicationFactor(), 1u);
  EXPECT_EQ(part.getTarget().getNumTiles(), 2u);
  EXPECT_EQ(s.graph.getTarget().getNumTiles(), 4u);
  const Tensor x = on_tile(part, FLOAT, {3}, "x", 0), y = on_tile(part, FLOAT, {3}, "y", 1);
  const ComputeSet doubles = part.addComputeSet("doubles");
  scale(part, doubles, x, y, 2, 1);
  const Tensor all_x = s.graph.getNonReplicatedTensor(x), all_y = s.graph.getNonReplicatedTensor(y.slice(1, 3));
  EXPECT_EQ(all_x.shape(), (std::vector<std::size_t>{2, 3}));
  EXPECT_EQ(all_y.shape(), (std::vector<std::size_t>{2, 2}));
  EXPECT_EQ(s.graph.getNonReplicatedTensor(x), all_x);  // the same elements each time
  const Graph::TileToTensorMapping tiles = s.graph.getTileMapping(all_y);
  EXPECT_THAT(tiles[1], ElementsAre(Interval(0, 2)));
  EXPECT_THAT(tiles[3], ElementsAre(Interval(2, 4)));
  EXPECT_THAT(part.getTileMapping(x)[0], ElementsAre(Interval(0, 3)));
  // One vertex of the whole graph over what both have.
  const Tensor sum = on_tile(s.graph, FLOAT, {4}, "sum", 2);
  const ComputeSet triples = s.graph.addComputeSet("triples");
  scale(s.graph, triples, all_y.flatten(), sum, 3, 2);
  part.setInitialValue(y, 7.0f);  // after somebody asked for all of it
  s.graph.createHostWrite("x", all_x);
  s.graph.createHostRead("y", y);
  s.graph.createHostRead("sum", sum);
  Engine engine(s.graph, {Sequence({Execute(doubles), Execute(triples)})});
  engine.load(s.device);
  EXPECT_THAT(read(engine, "y", 6), Each(7));
  const float values[] = {1, 2, 3, 10, 20, 30};
  engine.writeTensor("x", values, values + 6);
  engine.run();
  EXPECT_THAT(read(engine, "y", 6), ElementsAre(2, 4, 6, 20, 40, 60));
  EXPECT_THAT(read(engine, "sum", 4), ElementsAre(12, 18, 120, 180));
}

// A program of a replicated graph on whole IPUs, with or without something of the graph around it.
struct TwoForms {
  TwoForms(unsigned replicas, bool beside) : s(4), part(s.graph.createReplicatedGraph(replicas)) {
    s.add_codelets();
    if (beside) s.graph.createHostRead("other", s.variable(FLOAT, {1}, "other", 15));
  }

  Engine loaded(const Program& program) {
    Engine engine(s.graph, program);
    engine.setPrintTensorStream(printed);
    engine.load(s.device);
    return engine;
  }

  Setting s;
  Graph part;
  std::ostringstream printed;
};

// The same steps in both forms: as replicas of an executable, and one by one on all the tiles.
TEST(ReplicatedGraph, StepsOnEachReplica) {
  for (const bool beside : {false, true}) {
    TwoForms f(2, beside);
    Graph& part = f.part;
    const Tensor x = on_tile(part, FLOAT, {4}, "x", 1), y = on_tile(part, FLOAT, {4}, "y", 5), z = on_tile(part, FLOAT, {2, 2}, "z", 7);
    const Tensor index = part.addReplicationIndexConstant(), scaled = part.addConstant(FLOAT, {2}, ArrayRef<float>({0.5f, 8}));
    const Tensor number = on_tile(part, INT, {2}, "number", 2), wrong = on_tile(part, BOOL, {}, "wrong", 0);
    part.setTileMapping(index, 3);
    part.setTileMapping(scaled, 6);
    part.setInitialValue(x, ArrayRef<float>({1, 2, 3, 4}));
    part.setInitialValue(wrong, false);
    const ComputeSet first = part.addComputeSet("first"), second = part.addComputeSet("second");
    scale(part, first, x, y, 2, 5);
    part.setTileMapping(part.addVertex(second, "ScaleInt", {{"one", index.reinterpret(INT)}, {"y", number}}), 2);
    Sequence timed({Execute(first), Execute(second)});
    cycleCount(part, timed, 1, SyncType::INTERNAL);
    const Function body = part.addFunction(timed);
    const Tensor pair = concat(y.slice(1, 3).reverse(0), scaled);
    const Program steps = Sequence({Call(body), Repeat(2, Copy(y, x)), Call(body), Copy(pair, z.flatten()),
                                    CrossReplicaCopy(z[0], y.slice(0, 2), {{0, 1}, {1, 0}}), WriteUndef(x.slice(3, 4)),
                                    PrintTensor("number", number), AbortOnCondition(wrong)});
    for (const auto& [name, t] : {std::pair("y", y), std::pair("z", z.flatten())}) part.createHostRead(name, t);
    part.createHostRead("number", number);
    part.createHostWrite("x", x);
    Engine engine = f.loaded(steps);
    const float values[] = {1, 2, 3, 4, 10, 20, 30, 40};
    engine.writeTensor("x", values, values + 8);
    engine.run();
    EXPECT_THAT(read(engine, "y", 8), ElementsAre(120, 80, 12, 16, 12, 8, 120, 160)) << beside;
    EXPECT_THAT(read(engine, "z", 8), ElementsAre(12, 8, 0.5, 8, 120, 80, 0.5, 8)) << beside;
    int numbers[4] = {};
    engine.readTensor("number", numbers, numbers + 4);
    EXPECT_THAT(numbers, ElementsAre(0, 0, 1, 1)) << beside;
    EXPECT_THAT(f.printed.str(), HasSubstr("number"));
    if (beside) EXPECT_THAT(f.printed.str(), HasSubstr("number (replica 1): [1 1]"));
  }
}

// Seeds of the hardware generators are those of a replica's tiles.
TEST(ReplicatedGraph, SeedsOfAReplicasTiles) {
  for (const bool beside : {false, true}) {
    TwoForms f(2, beside);
    Sequence program;
    const Tensor seeds = getHwSeeds(f.part, program, "seeds");
    EXPECT_EQ(seeds.dim(0), 8u);
    Graph some = f.part.createVirtualGraph(2, 4);
    const Tensor of_part = getHwSeeds(some, program, "seeds");
    EXPECT_EQ(of_part.dim(0), 2u);
    EXPECT_NO_THROW(f.loaded(program).run()) << beside;
  }
}

// Where all is the replicated graph's, each replica has a stream of its own.
TEST(ReplicatedGraph, StreamsOfItsOwn) {
  TwoForms f(2, false);
  const Tensor x = on_tile(f.part, UNSIGNED_INT, {2}, "x");
  const DataStream in = f.part.addHostToDeviceFIFO("in", UNSIGNED_INT, 2);
  EXPECT_EQ(in.replicationFactor(), 2u);
  f.part.createHostRead("x", x);
  Engine engine = f.loaded(Copy(in, x));
  for (unsigned r = 0; r < 2; ++r)
    engine.connectStreamToCallback("in", r, [r](void* p) {
      for (unsigned i = 0; i < 2; ++i) static_cast<unsigned*>(p)[i] = 10 * r + i;
    });
  engine.run();
  unsigned values[4] = {};
  engine.readTensor("x", values, values + 4);
  EXPECT_THAT(values, ElementsAre(0, 1, 10, 11));
}

// One block of a stream of the whole graph goes to all replicas.
TEST(ReplicatedGraph, StreamsOfTheWholeGraph) {
  Setting s(1);
  Graph part = s.graph.createReplicatedGraph(4);  // of one tile each
  const Tensor x = on_tile(part, FLOAT, {3}, "x");
  const DataStream in = s.graph.addHostToDeviceFIFO("in", FLOAT, 3), out = s.graph.addDeviceToHostFIFO("out", FLOAT, 6);
  const Tensor all = s.graph.getNonReplicatedTensor(x);
  Engine engine(s.graph, Sequence({Copy(in, x), Copy(all.slice(1, 3).flatten(), out)}));
  engine.load(s.device);
  float sent[] = {1, 2, 3}, received[6] = {};
  engine.connectStream("in", sent, sent + 3);
  engine.connectStream("out", received, received + 6);
  engine.run();
  EXPECT_THAT(received, ElementsAre(1, 2, 3, 1, 2, 3));
}

// Each replica's copy of a vertex asks for its own value.
TEST(ReplicatedGraph, LateValues) {
  TwoForms f(2, true);
  std::stringstream source(R"(
    #include <poplar/Vertex.hpp>
    class Late : public poplar::Vertex {
     public:
      poplar::Output<unsigned> out;
      unsigned late;
      void compute() { *out = late; }
    };)");
  f.part.addCodelets(source);
  const Tensor out = on_tile(f.part, UNSIGNED_INT, {}, "out", 2);
  const ComputeSet set = f.part.addComputeSet("late");
  const VertexRef v = f.part.addVertex(set, "Late", {{"out", out}});
  f.part.setTileMapping(v, 2);
  unsigned calls = 0;
  f.part.setInitialValue<unsigned>(v["late"], [&](const VertexEdgeInfo&) { return ++calls; });
  f.part.createHostRead("out", out);
  Engine engine = f.loaded(Execute(set));
  engine.run();
  unsigned values[2] = {};
  engine.readTensor("out", values, values + 2);
  EXPECT_THAT(values, ElementsAre(1, 2));
}

// A replicated graph may come late, be one of several, and be made of a virtual graph.
TEST(ReplicatedGraph, OfSomeTiles) {
  Setting s(2);
  s.add_codelets();
  const Tensor whole = s.variable(FLOAT, {8}, "whole", 0);
  Graph high = s.graph.createVirtualGraph(4, 8);  // the second IPU
  Graph pairs = high.createReplicatedGraph(2), single = high.createReplicatedGraph(4);
  EXPECT_EQ(pairs.getTarget().getNumTiles(), 2u);
  EXPECT_EQ(single.getTarget().getNumTiles(), 1u);
  EXPECT_EQ(single.getTopLevelGraph().getTarget(), single.getTarget());
  Graph second_of_pair = pairs.createVirtualGraph(1, 2);
  const Tensor x = on_tile(second_of_pair, FLOAT, {4}, "x"), y = on_tile(single, FLOAT, {2}, "y"), twice = pairs.clone(x, "twice");
  scale(second_of_pair, s.set, x, twice, 2);
  const Tensor all_x = s.graph.getNonReplicatedTensor(x), all_y = s.graph.getNonReplicatedTensor(y);
  EXPECT_THAT(s.graph.getTileMapping(all_x)[5], ElementsAre(Interval(0, 4)));
  EXPECT_THAT(s.graph.getTileMapping(all_x)[7], ElementsAre(Interval(4, 8)));
  EXPECT_THAT(s.graph.getTileMapping(all_y)[6], ElementsAre(Interval(4, 6)));
  s.graph.createHostWrite("whole", whole);
  s.graph.createHostRead("y", y);
  const Tensor all_twice = s.graph.getNonReplicatedTensor(twice).flatten();
  s.program = Sequence({Copy(whole, all_x.flatten()), Execute(s.set), Copy(all_twice, all_y.flatten())});
  Engine engine = s.loaded();
  const float values[] = {1, 2, 3, 4, 5, 6, 7, 8};
  engine.writeTensor("whole", values, values + 8);
  engine.run();
  EXPECT_THAT(read(engine, "y", 8), ElementsAre(2, 4, 6, 8, 10, 12, 14, 16));
}

TEST(ReplicatedGraph, OfAReplicatedGraph) {
  Setting s(4);
  Graph quarter = s.graph.createReplicatedGraph(2).createReplicatedGraph(2);
  EXPECT_EQ(quarter.getReplicationFactor(), 4u);
  EXPECT_EQ(quarter.getTarget().getNumIPUs(), 1u);
  Setting two(2, 2);  // an executable of two replicas
  Graph half = two.graph.createReplicatedGraph(2);
  EXPECT_EQ(half.getReplicationFactor(), 4u);
  const Tensor x = on_tile(half, FLOAT, {1}, "x");
  half.createHostWrite("x", x);
  two.graph.createHostRead("all", two.graph.getNonReplicatedTensor(x));
  Engine engine = two.loaded();
  const float values[] = {1, 2, 3, 4};
  engine.writeTensor("x", values, values + 4);
  engine.run();
  EXPECT_THAT(read(engine, "all", 4), ElementsAre(1, 2, 3, 4));
}

TEST(ReplicatedGraph, Errors) {
  Setting s(3);
  s.add_codelets();
  EXPECT_THAT(replication_error([&] { s.graph.createReplicatedGraph(2); }), HasSubstr("3 IPUs of 4 tiles cannot be shared out evenly"));
  EXPECT_THAT(replication_error([&] { s.graph.createReplicatedGraph(0); }), HasSubstr("to 0 replicas"));
  EXPECT_THAT(replication_error([&] { s.graph.createReplicatedGraph(9); }), HasSubstr("to 9 replicas"));
  Graph part = s.graph.createReplicatedGraph(3);
  EXPECT_THAT(replication_error([&] { part.createVirtualGraph(2).createReplicatedGraph(2); }), HasSubstr("of the whole replicated graph"));
  const Tensor x = on_tile(part, FLOAT, {2}, "x"), whole = s.variable(FLOAT, {2}, "whole"), flag = on_tile(part, BOOL, {}, "flag");
  const Tensor all = s.graph.getNonReplicatedTensor(x);
  EXPECT_THROW(part.setTileMapping(x, 4), invalid_tile_mapping);
  try {
    s.graph.setTileMapping(all, 5);
    ADD_FAILURE() << "no error";
  } catch (const invalid_tile_mapping& e) { EXPECT_THAT(e.what(), HasSubstr("map the tensor of the replicated graph")); }
  const auto compile = [&](const Program& p) { return replication_error([&] { Engine(s.graph, p); }); };
  const std::string one_on_each = "of which there is one on each replica; getNonReplicatedTensor gives them all";
  EXPECT_THAT(compile(Copy(x, whole)), HasSubstr("'x', " + one_on_each));
  EXPECT_THAT(compile(If(flag, Sequence(), Sequence())), HasSubstr("the condition of If is 'flag', " + one_on_each));
  EXPECT_THAT(compile(RepeatWhileTrue(Sequence(), flag, Sequence())), HasSubstr("the condition of a loop is 'flag'"));
  EXPECT_THAT(compile(Copy(x, concat(x.slice(0, 1), whole.slice(0, 1)))), HasSubstr("not of the same replicated graph"));
  EXPECT_THAT(compile(Copy(part.addHostToDeviceFIFO("in", FLOAT, 2), x)), HasSubstr("stream 'in' of a replicated graph works where all"));
  EXPECT_THAT(compile(Copy(x, s.graph.addDeviceToHostFIFO("out", FLOAT, 2))), HasSubstr("the source of a copy to the host is 'x'"));
  EXPECT_THAT(replication_error([&] { CrossReplicaCopy(x, x, {{0, 3}}); }), HasSubstr("from replica 0 to 3; the graph has 3"));
  Graph other = s.graph.createReplicatedGraph(6);
  EXPECT_THAT(compile(Copy(x, on_tile(other, FLOAT, {2}, "z"))), HasSubstr("'x' of one replicated graph beside what is of another one"));
  const ComputeSet set = s.graph.addComputeSet("set");
  scale(s.graph, set, x, whole, 2);
  EXPECT_THAT(compile(Execute(set)), HasSubstr("(Scale) of the whole graph names 'x'"));
  Setting pair(2);
  pair.add_codelets();
  Graph one = pair.graph.createReplicatedGraph(2), another = pair.graph.createReplicatedGraph(4);
  scale(another, pair.set, on_tile(one, FLOAT, {2}, "x"), on_tile(another, FLOAT, {2}, "y"), 2);
  EXPECT_THAT(replication_error([&] { Engine(pair.graph, Execute(pair.set)); }),
              HasSubstr("'x' of one replicated graph beside what is of another one"));
  Setting two(2, 2);
  EXPECT_THAT(replication_error([&] { two.graph.getNonReplicatedTensor(two.variable(FLOAT, {1}, "v")); }),
              HasSubstr("one of the 2 replicas of an executable cannot name another one's tensor"));
  EXPECT_THROW(two.graph.getNonReplicatedTensor(x), graph_connection_error);
}

}  // namespace
}  // namespace api
