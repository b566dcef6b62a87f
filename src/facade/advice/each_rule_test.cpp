// Each rule of advice has a program with that fault: the report of its run has the finding. A rule without a program here fails.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "poplar/Engine.hpp"
#include "poplar/IPUModel.hpp"
#include "profile/advice.h"
#include "profile/report.h"

namespace {

using namespace poplar;
using namespace poplar::program;

constexpr unsigned kTiles = 4, kWorkers = 6;
constexpr std::size_t kFloats = 638'976 / 4;  // of a tile's memory

// Four tiles of an IPU, and codelets that faults are made of.
struct Machine4 {
  Device device = IPUModel("tiny4").createDevice();
  Graph graph{device.getTarget()};
  std::vector<char> host = std::vector<char>(4 * kFloats);

  Machine4() {
    std::stringstream source(
        "#include <pando/tile.hpp>\n"
        "#include <poplar/Vertex.hpp>\n"
        "using namespace poplar;\n"
        "struct Touch : Vertex { Input<Vector<float>> x; Output<Vector<float>> y; void compute() { y[0] = x[0]; } };\n"
        "struct Large : Vertex { static constexpr unsigned pando_code_bytes = 200000; Output<float> y; void compute() { *y = 1; } };\n"
        "struct High : Vertex { static constexpr pando::Reserve pando_reserve{0x80000, 0x20}; Output<float> y; void compute() { *y = 1; } "
        "};\n");
    graph.addCodelets(source);
    std::stringstream uncounted(
        "#include <poplar/Vertex.hpp>\nstruct Hidden : poplar::Vertex { poplar::Output<float> y; void compute() { *y = 1; } };");
    graph.addCodelets(uncounted, "-fno-count");
  }

  Tensor on(unsigned tile, std::size_t elements, const std::string& name) {
    const Tensor t = graph.addVariable(FLOAT, {elements}, name);
    graph.setTileMapping(t, tile);
    return t;
  }
  void vertex(const ComputeSet& cs, unsigned tile, unsigned cycles, const Tensor& x, const Tensor& y) {
    const VertexRef v = graph.addVertex(cs, "Touch", {{"x", x}, {"y", y}});
    graph.setTileMapping(v, tile);
    graph.setPerfEstimate(v, cycles);
  }
  // So many vertices on each of the first tiles; `cycles` by tile.
  Program work(unsigned tiles, unsigned vertices, const std::function<unsigned(unsigned)>& cycles) {
    const ComputeSet cs = graph.addComputeSet("work");
    for (unsigned tile = 0; tile < tiles; ++tile) {
      const Tensor x = on(tile, vertices, "x"), y = on(tile, vertices, "y");
      for (unsigned v = 0; v < vertices; ++v) vertex(cs, tile, cycles(tile), x.slice(v, v + 1), y.slice(v, v + 1));
    }
    return Execute(cs);
  }
  Program one(const char* codelet, unsigned tile) {
    const ComputeSet cs = graph.addComputeSet("one");
    const VertexRef v = graph.addVertex(cs, codelet, {{"y", on(tile, 1, "y")[0]}});
    graph.setTileMapping(v, tile);
    if (std::string(codelet) != "Hidden") graph.setPerfEstimate(v, 10);
    return Execute(cs);
  }
};

using Make = Program (*)(Machine4& m);

const std::map<std::string, Make> kFaults = {
    {"unbalanced", [](Machine4& m) { return m.work(kTiles, kWorkers, [](unsigned tile) { return tile == 2 ? 5000u : 500u; }); }},
    {"few_tiles", [](Machine4& m) { return m.work(1, kWorkers, [](unsigned) { return 5000u; }); }},
    {"few_workers", [](Machine4& m) { return m.work(kTiles, 1, [](unsigned) { return 5000u; }); }},
    {"sync_bound", [](Machine4& m) { return Program(Repeat(100, Copy(m.on(0, 1, "a"), m.on(1, 1, "b")))); }},
    {"exchange_bound", [](Machine4& m) { return Program(Copy(m.on(0, 20'000, "a"), m.on(1, 20'000, "b"))); }},
    {"rearrangement", [](Machine4& m) { return Program(Copy(m.on(0, 20'000, "a"), m.on(0, 20'000, "b"))); }},
    {"one_by_one",
     [](Machine4& m) {
       return Program(Copy(m.on(0, 64 * 64, "a").reshape({64, 64}).transpose(), m.on(1, 64 * 64, "b").reshape({64, 64})));
     }},
    {"host_bound", [](Machine4& m) { return Program(Copy(m.graph.addHostToDeviceFIFO("in", FLOAT, 20'000), m.on(0, 20'000, "a"))); }},
    {"unestimated", [](Machine4& m) { return m.one("Hidden", 0); }},
    {"gaps", [](Machine4& m) { return m.one("High", 0); }},
    {"loadable_code", [](Machine4& m) { return m.one("Large", 0); }},
    {"always_live",
     [](Machine4& m) {
       const Tensor kept = m.on(0, kFloats / 2, "kept");
       m.graph.createHostWrite("kept", kept);
       return Program(Copy(kept.slice(0, 10), m.on(1, 10, "b")));
     }},
    {"exchange_buffers",
     [](Machine4& m) {
       const ComputeSet cs = m.graph.addComputeSet("far");
       m.vertex(cs, 0, 100, m.on(0, 10, "near"), m.on(1, kFloats / 4, "far"));
       return Program(Execute(cs));
     }},
    {"out_of_memory",
     [](Machine4& m) {
       const Tensor all = m.on(3, kFloats + 1000, "all");
       m.graph.createHostRead("all", all);
       return Program(Copy(m.on(0, 10, "a"), all.slice(0, 10)));
     }},
};

// What the file of the program's run says.
std::vector<pando::profile::Finding> findings_of(const std::string& rule, Make make) {
  const std::string directory = testing::TempDir() + "advice_" + rule;
  {
    Machine4 m;
    const Program program = make(m);
    try {
      Engine engine(m.graph, program, {{"autoReport.all", "true"}, {"autoReport.directory", directory}});
      engine.load(m.device);
      if (rule == "host_bound") engine.connectStream("in", m.host.data(), m.host.data() + 80'000);
      engine.run(0);
    } catch (const graph_memory_allocation_error&) { EXPECT_EQ(rule, "out_of_memory"); }
  }
  std::ifstream file(directory + "/profile.pando", std::ios::binary);
  const auto report = pando::profile::read_report({std::istreambuf_iterator<char>(file), {}});
  std::filesystem::remove_all(directory);
  return pando::profile::advise(report);
}

TEST(Advice, EachRuleHasAProgramThatTripsIt) {
  for (const pando::profile::AdviceRow* row : pando::profile::advice_rules()) {
    SCOPED_TRACE(std::string(row->name));
    const auto fault = kFaults.find(std::string(row->name));
    ASSERT_NE(fault, kFaults.end()) << "it has no program here";
    bool found = false;
    std::string others;
    for (const pando::profile::Finding& f : findings_of(fault->first, fault->second)) {
      others += f.rule + " ";
      if (f.rule != row->name) continue;
      found = true;
      EXPECT_GT(f.cost, 0);
      EXPECT_FALSE(f.title.empty() || f.text.empty() || f.evidence.empty()) << f.title;
    }
    EXPECT_TRUE(found) << "found: " << others;
  }
}

TEST(Advice, AProgramWithoutFaultsHasNone) {
  const auto even = [](Machine4& m) { return m.work(kTiles, kWorkers, [](unsigned) { return 5000u; }); };
  for (const pando::profile::Finding& f : findings_of("none", even)) ADD_FAILURE() << f.rule << ": " << f.title;
}

}  // namespace
