// Parts of the API that few programs use.
#include <gmock/gmock.h>
#include <pando/host.hpp>
#include <poplar/CycleCount.hpp>
#include <poplar/MetadataCreation.hpp>
#include <poplar/VertexIntrospector.hpp>
#include <poplar/exceptions.hpp>
#include <pva/pva.hpp>

#include <nlohmann/json.hpp>

#include <cstring>
#include <set>
#include <sstream>

#include "setting.h"

namespace api {
namespace {

using namespace poplar;
using namespace poplar::program;

std::vector<float> read(Engine& engine, const char* handle, std::size_t n) {
  std::vector<float> out(n);
  engine.readTensor(handle, out.data(), out.data() + n);
  return out;
}

TEST(RemoteBuffers, RowsInALoopWithTheIndexOnTheDevice) {
  Setting s;
  s.add_codelets();
  const Tensor v = s.variable(FLOAT, {2}, "v"), out = s.variable(FLOAT, {2}, "out", 1), row = s.variable(UNSIGNED_INT, {1}, "row"),
               next = s.variable(UNSIGNED_INT, {3}, "next", 2);
  s.graph.setInitialValue(row, ArrayRef<unsigned>{0u});
  s.graph.setInitialValue(next, ArrayRef<unsigned>{2u, 3u, 1u});
  s.scale(v, out, 10);
  const RemoteBuffer buffer = s.graph.addRemoteBuffer("rows", FLOAT, 2, 4);
  EXPECT_EQ(buffer.getRepeats(), 4u);
  EXPECT_EQ(buffer.numElements(), 2u);
  s.program.add(Repeat(3, Sequence({Copy(buffer, v, row), Execute(s.set), Copy(out, buffer, row), Copy(next.slice(0, 1), row),
                                    Copy(next.slice(1, 3), next.slice(0, 2))})));
  Engine engine = s.loaded();
  for (int r = 0; r < 4; ++r) engine.copyToRemoteBuffer(std::vector<float>{float(r), r + 0.5f}, "rows", r);
  engine.run();
  std::vector<float> all, part(2);
  for (int r = 0; r < 4; ++r) {
    engine.copyFromRemoteBuffer("rows", part, r);
    all.insert(all.end(), part.begin(), part.end());
  }
  EXPECT_EQ(all, (std::vector<float>{0, 5, 1, 1.5, 20, 25, 30, 35}));
}

TEST(FunctionBuffers, LoadedCalledAndLoadedAgain) {
  Setting s;
  s.add_codelets();
  const Tensor v = s.variable(FLOAT, {2}, "v");
  s.graph.setInitialValue(v, ArrayRef<float>{1, 3});
  const ComputeSet other = s.graph.addComputeSet("other");
  const VertexRef a = s.graph.addVertex(s.set, "Scale", {{"x", v}, {"y", v}, {"factor", 2.0f}}),
                  b = s.graph.addVertex(other, "Scale", {{"x", v}, {"y", v}, {"factor", 5.0f}});
  s.graph.setTileMapping(a, 0);
  s.graph.setTileMapping(b, 0);
  const Function twice = s.graph.addFunction(Execute(s.set)), five = s.graph.addFunction(Execute(other));
  const FunctionBuffer near_twice = s.graph.addFunctionBuffer(twice, FunctionBufferMappingType::REMOTE),
                       near_five = s.graph.addFunctionBuffer(five, FunctionBufferMappingType::REMOTE);
  s.program.add(Repeat(2, Sequence({Copy(near_twice, twice), Call(twice), Call(twice), Copy(near_five, five), Call(five)})));
  s.graph.createHostRead("v", v);
  Engine engine = s.loaded();
  engine.run();
  EXPECT_EQ(read(engine, "v", 2), (std::vector<float>{400, 1200}));
}

TEST(HostFunctions, PerReplica) {
  Setting s(2, 2);
  const Tensor v = s.variable(FLOAT, {2}, "v");
  const HostFunction f = s.graph.addHostFunction("f", {Graph::HostFunctionArgument{FLOAT, 2}}, {Graph::HostFunctionArgument{FLOAT, 2}});
  s.program.add(Call(f, {v}, {v}));
  s.graph.createHostRead("v", v);
  s.graph.setInitialValue(v, ArrayRef<float>{1, 2});
  Engine engine = s.loaded();
  struct Add : HostCallback {
    explicit Add(float n) : n(n) {}
    void operator()(ArrayRef<const void*> in, ArrayRef<void*> out) override {
      for (int i = 0; i < 2; ++i) static_cast<float*>(out[0])[i] = static_cast<const float*>(in[0])[i] + n;
    }
    float n;
  };
  for (unsigned r = 0; r < 2; ++r) engine.connectHostFunction("f", r, std::unique_ptr<HostCallback>(new Add(10.0f * (r + 1))));
  engine.run();
  EXPECT_EQ(read(engine, "v", 4), (std::vector<float>{11, 12, 21, 22}));
}

TEST(Replicas, StreamsAndIndexAndCopiesAcross) {
  Setting s(2, 2);
  const Tensor index = s.graph.addReplicationIndexConstant("index"), mine = s.variable(UNSIGNED_INT, {}, "mine"),
               got = s.variable(FLOAT, {2}, "got"), v = s.variable(FLOAT, {2}, "v");
  s.graph.setTileMapping(index, 1);
  const DataStream in = s.graph.addHostToDeviceFIFO("in", FLOAT, 2), out = s.graph.addDeviceToHostFIFO("out", FLOAT, 2);
  EXPECT_EQ(in.replicationFactor(), 2u);
  s.program.add(Sequence({Copy(in, v), Copy(index, mine), CrossReplicaCopy(v, got, {{0, 1}, {1, 0}}), Copy(got, out)}));
  s.graph.createHostRead("mine", mine);
  Engine engine = s.loaded();
  std::vector<std::vector<float>> seen(2);
  for (unsigned r = 0; r < 2; ++r) {
    engine.connectStreamToCallback("in", r, [r](void* p) {
      const float block[2] = {r + 1.0f, r + 1.5f};
      std::memcpy(p, block, 8);
    });
    engine.connectStreamToCallback("out", r, [r, &seen](void* p) {
      const float* f = static_cast<float*>(p);
      seen[r] = {f[0], f[1]};
    });
  }
  engine.run();
  EXPECT_EQ(seen[0], (std::vector<float>{2, 2.5}));
  EXPECT_EQ(seen[1], (std::vector<float>{1, 1.5}));
  unsigned indices[2] = {7, 7};
  engine.readTensor("mine", indices, indices + 2);
  EXPECT_EQ(indices[0], 0u);
  EXPECT_EQ(indices[1], 1u);
}

TEST(Estimates, EstimatorsSeeFieldsAndReportsUseThem) {
  Setting s;
  s.add_codelets();
  const Tensor x = s.variable(FLOAT, {2, 3}, "x"), sum = s.variable(FLOAT, {}, "sum"),
               weights = s.graph.addConstant<float>(FLOAT, {2}, {5, 6});
  s.graph.setTileMapping(weights, 0);
  const VertexRef v = s.graph.addVertex(s.set, "Rows", {{"rows", x}, {"sum", sum}, {"weight", 3}});
  s.graph.setInitialValue(v["offsets"], ArrayRef<float>{0.5f, 1.5f});
  s.graph.setTileMapping(v, 0);
  const VertexRef w = s.graph.addVertex(s.set, "Scale", {{"x", weights}, {"y", s.variable(FLOAT, {2}, "y", 1)}, {"factor", 4.0f}});
  s.graph.setTileMapping(w, 1);
  s.graph.setPerfEstimate(w, 123, 4);
  unsigned calls = 0;
  s.graph.registerPerfEstimator("Rows", [&calls](const VertexIntrospector& i, const Target& t) {
    ++calls;
    const FieldData rows = i.getFieldInfo("rows"), offsets = i.getFieldInfo("offsets");
    EXPECT_EQ(i.getVertexName(), "Rows");
    EXPECT_EQ(rows.rank(), 2u);
    EXPECT_EQ(rows.size(), 2u);
    EXPECT_EQ(rows[1].size(), 3u);
    EXPECT_EQ(rows.getSizeAtIndex(0), 3u);
    EXPECT_EQ(offsets.getSizeAtIndex(1), 1u);  // an element of a vector
    EXPECT_THROW(offsets.getSizeAtIndex(2), index_error);
    EXPECT_EQ(rows.getProfilerVectorLayout(1), layout::Vector::Span);
    EXPECT_EQ(rows.getProfilerVectorListLayout(), layout::VectorList::NotAVector);
    EXPECT_EQ(i.getFieldInfo("weight").getInitialValue<unsigned>(t), 3u);
    EXPECT_EQ(offsets.getInitialValues<float>(t), (std::vector<float>{0.5f, 1.5f}));
    EXPECT_EQ(i.getFieldInfo("sum").rank(), 0u);
    EXPECT_THROW(i.getFieldInfo("nothing"), unknown_field);
    EXPECT_THROW(rows.getInitialValues<std::vector<float>>(t), poplar_error);  // not known before the program runs
    return VertexPerfEstimate(77777, 2);
  });
  EXPECT_EQ(s.graph.getMaxFieldDim("Rows", "rows", 1), s.graph.getMaxFieldDim("Scale", "x", 0));
  EXPECT_EQ(s.graph.getMaxVertexFieldValue("Rows", "weight"), 65535.0);
  s.program.add(Execute(s.set));
  Engine engine = s.loaded();
  EXPECT_EQ(calls, 1u);
  engine.run();
  EXPECT_GE(engine.getReport().execution().totalCycles(), 6 * 77777u);  // a worker has every sixth cycle of its tile
  EXPECT_LT(engine.getReport().execution().totalCycles(), 7 * 77777u);
}

TEST(Reports, AsValues) {
  Setting s;
  s.add_codelets();
  const VertexRef w =
      s.graph.addVertex(s.set, "Scale", {{"x", s.variable(FLOAT, {2}, "x")}, {"y", s.variable(FLOAT, {2}, "y")}, {"factor", 4.0f}});
  s.graph.setTileMapping(w, 0);
  s.graph.setPerfEstimate(w, 123, 4);
  s.program.add(Execute(s.set));
  const Tensor cycles = cycleCount(s.graph, s.program, 0, std::string("all of it"));
  s.graph.createHostRead("cycles", cycles);
  Engine engine = s.loaded();
  engine.run();
  std::uint32_t larger[4] = {0, 0, 7, 7};  // than the tensor
  engine.readTensor("cycles", larger, larger + 4);
  EXPECT_GE(larger[0], 123u);
  EXPECT_EQ(larger[2], 7u);
  auto& graph = engine.getGraphProfile();
  EXPECT_EQ(graph["vertexTypes"]["names"].size(), 2u);
  EXPECT_EQ(graph["vertexTypes"]["names"][0].asString(), "Scale");
  EXPECT_GT(graph["memory"]["byTile"]["total"].sumUint(), 0u);
  EXPECT_THROW(graph["graph"]["numVars"].sumUint(), type_error);
  std::ostringstream whole, part;
  printProfileSummary(whole, graph, engine.getExecutionProfile(), {{"showExecutionSteps", "true"}});
  EXPECT_THAT(whole.str(), testing::HasSubstr("Runs:                1"));
  printProfileSummary(part, graph, {});
  EXPECT_LT(part.str().size(), whole.str().size());
  EXPECT_THAT(engine.getSummary({{"showExecutionSteps", "true"}}), testing::HasSubstr("Runs:                1"));
  const ProfileValue& both = engine.getProfile();
  EXPECT_EQ(both.asMap().size(), 2u);
  EXPECT_EQ(both["graphProfile"]["vertexTypes"]["names"][0].asString(), "Scale");
  EXPECT_EQ(both["executionProfile"]["simulation"]["cycles"].asUint(), engine.getExecutionProfile()["simulation"]["cycles"].asUint());
}

TEST(VirtualGraphs, NestAndKeepTheVariables) {
  Setting s(2);
  Graph low = s.graph.createVirtualGraph(2);                        // tiles 0 1 4 5
  Graph odd = low.createVirtualGraph(std::vector<unsigned>{1, 3});  // tiles 1 5
  Graph last = odd.createVirtualGraph(1, 2);                        // tile 5
  EXPECT_EQ(low.getTarget().getNumTiles(), 4u);
  EXPECT_EQ(low.getTarget().getNumIPUs(), 2u);
  EXPECT_EQ(odd.convertVirtualTileToPhysicalTile(1), 5u);
  EXPECT_EQ(last.convertVirtualTileToPhysicalTile(0), 5u);
  const Tensor t = odd.addVariable(INT, {4}, "t");
  odd.setTileMapping(t.slice(0, 2), 0);
  last.setTileMapping(t.slice(2, 4), 0);
  const auto mapping = s.graph.getTileMapping(t);
  EXPECT_EQ(mapping[1], (std::vector<Interval>{{0, 2}}));
  EXPECT_EQ(mapping[5], (std::vector<Interval>{{2, 4}}));
  EXPECT_EQ(odd.getTileMapping(t)[1], (std::vector<Interval>{{2, 4}}));
  EXPECT_EQ(last.getTopLevelGraph().getTarget().getNumTiles(), 8u);
}

TEST(Texts, VertexAndComputeGraphs) {
  Setting s;
  s.add_codelets();
  s.scale(s.variable(FLOAT, {2}, "input"), s.variable(FLOAT, {2}, "output"));
  const ComputeSet later = s.graph.addComputeSet("later");
  std::ostringstream vertices, computes;
  const Program p = Sequence({Execute(later), Repeat(2, Execute(s.set))});
  s.graph.outputVertexGraph(vertices, {p});
  s.graph.outputComputeGraph(computes, {p});
  for (const char* part : {"digraph", "input", "output", "Scale"})
    EXPECT_NE(vertices.str().find(part), std::string::npos) << vertices.str();
  EXPECT_LT(computes.str().find("later"), computes.str().find("work"));
  EXPECT_NE(computes.str().find("work"), std::string::npos);
}

TEST(Graphs, SerialisedAsData) {
  Setting s;
  s.add_codelets();
  const Tensor a = s.variable(FLOAT, {4}, "a"), b = s.variable(FLOAT, {4}, "b", 1);
  s.scale(a, b, 2, 1);
  s.graph.addHostToDeviceFIFO("in", FLOAT, 4);
  s.graph.createHostRead("r", b);
  std::stringstream json, cbor, without;
  s.graph.serialize(json, {Sequence{Execute(s.set), Copy(b, a)}, Sequence()}, SerializationFormat::JSON);
  s.graph.serialize(cbor, {Sequence{Execute(s.set), Copy(b, a)}, Sequence()}, SerializationFormat::Binary);
  s.graph.serialize(without, SerializationFormat::JSON);
  const auto read = nlohmann::json::parse(json), bare = nlohmann::json::parse(without);
  EXPECT_EQ(read, nlohmann::json::from_cbor(cbor));
  EXPECT_EQ(read["target"]["tilesPerIpu"], 4);
  EXPECT_EQ(read["variables"][1]["name"], "b");
  EXPECT_EQ(read["variables"][1]["mapping"], nlohmann::json::parse("[[1, 0, 4]]"));
  EXPECT_EQ(read["vertices"][0]["codelet"], "Scale");
  EXPECT_EQ(read["vertices"][0]["tile"], 1);
  EXPECT_EQ(read["vertices"][0]["edges"], nlohmann::json::parse(R"({"x": ["v0"], "y": ["v1"]})"));
  EXPECT_EQ(read["computeSets"][0]["vertices"], nlohmann::json::parse("[0]"));
  EXPECT_EQ(read["streams"][0]["handle"], "in");
  EXPECT_EQ(read["hostHandles"][0]["tensor"], "v1");
  ASSERT_EQ(read["programs"].size(), 2u);
  EXPECT_EQ(read["programs"][0][0], "Sequence");
  EXPECT_EQ(read["programs"][0][2], "  Copy v1 -> v0");
  EXPECT_EQ(bare["programs"].size(), 0u);
  EXPECT_EQ(bare["vertices"], read["vertices"]);
}

TEST(Tensors, SerialisedAndMadeInAnotherGraph) {
  for (const SerializationFormat format : {SerializationFormat::Binary, SerializationFormat::JSON}) {
    std::stringstream file;
    {
      Setting s;
      const Tensor a = s.graph.addVariable(HALF, {2, 3}, "a");
      s.graph.setTileMapping(a, {{{0, 2}}, {}, {{2, 6}}});
      try {
        s.graph.serializeTensors(file, {a, a.transpose()}, format);
      } catch (const poplar_error& e) {
        EXPECT_EQ(format, SerializationFormat::JSON) << e.what();
        continue;
      }
    }
    Setting s;
    const std::vector<Tensor> tensors = s.graph.deserializeTensors(file, format);
    ASSERT_EQ(tensors.size(), 2u);
    EXPECT_EQ(tensors[0].elementType(), HALF);
    EXPECT_EQ(tensors[1].shape(), (std::vector<std::size_t>{3, 2}));
    EXPECT_EQ(s.graph.getTileMapping(tensors[0])[2], (std::vector<Interval>{{2, 6}}));
  }
}

TEST(Host, ImagesResetsAndTileGroups) {
  Setting s;
  std::stringstream source(R"(
    #include <pando/tile.hpp>
    #include <poplar/Vertex.hpp>
    static int counter = 5;
    class Count : public poplar::Vertex {
     public:
      poplar::Output<int> out;
      void compute() { *out = counter++; }
    };)");
  s.graph.addCodelets(source);
  const Tensor out = s.variable(INT, {2}, "out");
  for (unsigned t = 0; t < 2; ++t) s.graph.setTileMapping(s.graph.addVertex(s.set, "Count", {{"out", out[t]}}), t);
  s.graph.createHostRead("out", out);
  pando::set_tile_group(s.graph, 3, true);
  EXPECT_THROW(pando::set_tile_group(s.graph, 4, true), invalid_tile_mapping);
  s.program.add(Repeat(3, Execute(s.set)));
  Engine unloaded(s.graph, s.program);
  EXPECT_THROW(pando::reset_tile(unloaded, 0), poplar_error);
  Engine engine = s.loaded();
  engine.run();
  int seen[2];
  engine.readTensor("out", seen, seen + 2);
  EXPECT_EQ(seen[0], 7);
  EXPECT_EQ(seen[1], 7);
  pando::reset_tile(engine, 1);
  engine.run();
  engine.readTensor("out", seen, seen + 2);
  EXPECT_EQ(seen[0], 10);
  EXPECT_EQ(seen[1], 7);
  EXPECT_THROW(pando::reset_tile(engine, 9), invalid_tile_mapping);
  EXPECT_THROW(pando::reset_tile(engine, 0, 1), graph_replication_error);
}

}  // namespace
}  // namespace api
