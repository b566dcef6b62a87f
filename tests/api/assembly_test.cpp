// Programs with vertices in assembly: their results, and their cycles, which are those of the instructions executed.
#include <gmock/gmock.h>
#include <pva/pva.hpp>

#include <numeric>

#include "setting.h"

namespace api {
namespace {

using namespace poplar;
using namespace poplar::program;

struct TriadProgram {
  explicit TriadProgram(unsigned pairs, bool is_estimated) {
    s.graph.addCodelets({codelet_file("triad.cpp"), codelet_file("triad.S")});
    const std::size_t n = 2 * pairs;
    std::vector<float> values(n);
    std::iota(values.begin(), values.end(), 1.0f);
    for (unsigned tile = 0; tile < 2; ++tile) {
      // The inputs of the second vertex lie on other tiles.
      const Tensor b = s.variable(FLOAT, {n}, "b", 3 * tile), c = s.variable(FLOAT, {n}, "c", 2 * tile),
                   a = s.variable(FLOAT, {n}, "a", tile);
      s.graph.setInitialValue(b, ArrayRef<float>(values));
      s.graph.setInitialValue(c, ArrayRef<float>(values));
      const VertexRef v = s.graph.addVertex(s.set, "Triad", {{"a", a}, {"b", b}, {"c", c}, {"pairs", pairs}, {"scale", 2.0f}});
      s.graph.setTileMapping(v, tile);
      if (is_estimated) s.graph.setPerfEstimate(v, 9 + 3 * pairs);
      s.graph.createHostRead("a" + std::to_string(tile), a);
    }
    s.program.add(Execute(s.set));
  }
  Setting s;
};

TEST(AssembledVertices, RunInAProgram) {
  TriadProgram p(100, false);
  Engine engine = p.s.loaded();
  engine.run();
  for (const char* name : {"a0", "a1"}) {
    std::vector<float> a(200);
    engine.readTensor(name, a.data(), a.data() + a.size());
    for (unsigned i = 0; i < 200; ++i) EXPECT_EQ(a[i], 3.0f * static_cast<float>(i + 1)) << name << " " << i;
  }
}

TEST(AssembledVertices, TakeTheCyclesOfTheirInstructions) {
  const auto cycles = [](unsigned pairs, bool is_estimated) {
    TriadProgram p(pairs, is_estimated);
    Engine engine = p.s.loaded();
    engine.run();
    return engine.getReport().execution().totalCycles();
  };
  EXPECT_EQ(cycles(100, false), cycles(100, true));
  EXPECT_EQ(cycles(101, false), cycles(101, true));
}

TEST(AssembledVertices, AreNamedInTheReport) {
  TriadProgram p(10, false);
  Engine engine = p.s.loaded();
  engine.run();
  std::ostringstream out;
  engine.printProfileSummary(out, {{"showExecutionSteps", "true"}});
  EXPECT_THAT(out.str(), testing::HasSubstr("counted"));
}

}  // namespace
}  // namespace api
