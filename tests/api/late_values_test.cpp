// Values that are known when a program is compiled, and modules.
#include <gmock/gmock.h>
#include <poplar/LateInitCallback.hpp>
#include <poplar/Module.hpp>
#include <poplar/exceptions.hpp>

#include <sstream>

#include "setting.h"

namespace api {
namespace {

using namespace poplar;
using namespace poplar::program;

void add_late_codelet(Graph& graph) {
  std::stringstream source(R"(
    #include <poplar/Vertex.hpp>
    using namespace poplar;
    class Late : public Vertex {
     public:
      Input<Vector<float>> in;
      Vector<Input<Vector<short>>> rows;
      Output<unsigned> out;
      unsigned short late;
      unsigned usual;
      unsigned many;
      void compute() { *out = late * 1000 + usual; }
    };)");
  graph.addCodelets(source);
}

struct LateVertex : Setting {
  LateVertex() {
    add_late_codelet(graph);
    v = graph.addVertex(set, "Late");
    graph.setTileMapping(v, 3);
    const Tensor rows = variable(SHORT, {3, 5}, "rows", 3);
    graph.connect(v["in"], variable(FLOAT, {7}, "in", 1));
    graph.connect(v["rows"], rows.slice(0, 2));
    graph.setInitialValue(v["usual"], 4u);
    graph.connect(v["out"], out);
    graph.createHostRead("out", out);
    program.add(Execute(set));
  }
  unsigned run() {
    Engine engine = loaded();
    engine.run();
    unsigned seen = 0;
    engine.readTensor("out", &seen);
    return seen;
  }
  VertexRef v;
  Tensor out = variable(UNSIGNED_INT, {}, "out", 0);
};

TEST(LateValues, KnowWhereTheEdgesOfTheVertexLie) {
  LateVertex s;
  std::vector<VertexEdgeInfo> seen;
  LateInitCallback<unsigned> callback = [&](const VertexEdgeInfo& info) {
    seen.push_back(info);
    return 42u;
  };
  s.graph.setInitialValue(s.v["late"], callback);
  EXPECT_EQ(s.run(), 42004u);
  ASSERT_EQ(seen.size(), 1u);
  const auto& storage = seen[0].storage;
  ASSERT_EQ(storage.size(), 3u);
  ASSERT_EQ(storage.at("in").size(), 1u);
  EXPECT_EQ(storage.at("in")[0].len, 28u);
  EXPECT_EQ(storage.at("in")[0].startOffs % 4, 0u);
  ASSERT_EQ(storage.at("rows").size(), 2u);
  EXPECT_EQ(storage.at("rows")[0].len, 10u);
  EXPECT_EQ(storage.at("rows")[1].startOffs, storage.at("rows")[0].startOffs + 10);  // one variable, in place
  EXPECT_EQ(storage.at("out")[0].len, 4u);
  EXPECT_LT(storage.at("out")[0].startOffs, s.graph.getTarget().getBytesPerTile());
  EXPECT_NE(storage.at("out")[0].startOffs, storage.at("in")[0].startOffs);
}

TEST(LateValues, AreAskedForWhenTheGraphIsCompiledAndReplacedByOthers) {
  LateVertex s;
  unsigned calls = 0;
  s.graph.setInitialValue<unsigned short>(s.v["late"], [&](const VertexEdgeInfo&) -> unsigned short { return ++calls; });
  s.program.add(Execute(s.set));
  EXPECT_EQ(s.run(), 1004u);  // both places run what was compiled once
  EXPECT_EQ(s.run(), 2004u);
  s.graph.setInitialValue(s.v["late"], 7u);
  EXPECT_EQ(s.run(), 7004u);
  EXPECT_EQ(calls, 2u);
}

TEST(LateValues, FitTheFieldWhichIsAScalarState) {
  LateVertex s;
  const LateInitCallback<unsigned> big = [](const VertexEdgeInfo&) { return 70000u; };
  EXPECT_THROW(s.graph.setInitialValue(s.v["in"], big), graph_connection_error);
  EXPECT_THROW(s.graph.setInitialValue(s.v["late"][0], big), graph_connection_error);
  EXPECT_THROW(s.graph.setInitialValue(s.v["late"], LateInitCallback<unsigned>()), graph_connection_error);
  EXPECT_THROW(s.graph.setInitialValue(s.v["nothing"], big), unknown_field);
  s.graph.setInitialValue(s.v["late"], big);
  EXPECT_THROW(s.run(), overflow_error);
}

TEST(Modules, CompileAndHaveNoImage) {
  LateVertex s;
  Module module = compileModule(s.graph, s.program);
  std::ostringstream out;
  EXPECT_THROW(module.serialize(out), poplar_error);
  EXPECT_THROW(module.forEachSegment([](auto...) {}), poplar_error);
  EXPECT_THROW(module.forEachLoadableSegment([](auto...) {}), poplar_error);
  Module other = std::move(module);
  EXPECT_THROW(module.serialize(out), poplar_error);
  s.program.add(Copy(s.out, s.graph.addDeviceToHostFIFO("stream", UNSIGNED_INT, 1)));
  try {
    compileModule(s.graph, s.program);
    FAIL() << "a module has no streams";
  } catch (const poplar_error& e) { EXPECT_THAT(e.what(), testing::HasSubstr("'stream'")); }
}

}  // namespace
}  // namespace api
