// setjmp and longjmp in codelets, and what becomes of assembly that is written for an IPU.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poplar/exceptions.hpp>

#include <sstream>

#include "setting.h"

namespace api {
namespace {

using namespace poplar;
using namespace poplar::program;
using testing::HasSubstr;

struct Jumps : Setting {
  explicit Jumps(unsigned tiles = 4) {
    device = ipus(1, tiles);
    graph = Graph(device);
    set = graph.addComputeSet("work");
    graph.addCodelets(codelet_file("jumps.cpp"));
  }
  void vertex(const char* type, const Tensor& out, unsigned tile = 0) {
    graph.setTileMapping(graph.addVertex(set, type, {{"out", out}}), tile);
  }
};

int run_one(const char* type, const char* before = nullptr) {
  Jumps s;
  const Tensor out = s.variable(INT, {}, "out");
  s.graph.createHostRead("out", out);
  if (before) {
    const ComputeSet first = s.graph.addComputeSet("before");
    s.graph.setTileMapping(s.graph.addVertex(first, before, {{"out", out}}), 0);
    s.program.add(Execute(first));
  }
  s.vertex(type, out);
  s.program.add(Execute(s.set));
  Engine engine = s.loaded();
  engine.run();
  int value = 0;
  engine.readTensor("out", &value, &value + 1);
  return value;
}

std::string error_of(const char* type, const char* before = nullptr) {
  try {
    run_one(type, before);
  } catch (const application_runtime_error& e) { return e.what(); }
  return "no error";
}

TEST(Jumps, OutOfDeepCalls) { EXPECT_EQ(run_one("LeaveDeepCalls"), 7); }

// On each tile, `n` steps that differ per tile, until all are done; with calls of an earlier compute set below the resumed ones.
TEST(Jumps, BackIntoAbandonedCalls) {
  constexpr unsigned kTiles = 64, kSteps = 50;
  Jumps s(kTiles);
  const Tensor step = s.graph.addVariable(INT, {kTiles}, "step"), sum = s.graph.addVariable(INT, {kTiles}, "sum");
  const Tensor done = s.graph.addVariable(BOOL, {kTiles}, "done");
  std::vector<int> steps;
  for (unsigned t = 0; t < kTiles; ++t) {
    const VertexRef v =
        s.graph.addVertex(s.set, "SumOfSteps", {{"step", step[t]}, {"sum", sum[t]}, {"done", done[t]}, {"n", static_cast<int>(kSteps)}});
    for (const Tensor& x : {step[t], sum[t], done[t]}) s.graph.setTileMapping(x, t);
    s.graph.setTileMapping(v, t);
    steps.push_back(static_cast<int>(3 * t));
  }
  const bool none[kTiles] = {};
  s.graph.setInitialValue<bool>(done, ArrayRef<bool>(none, kTiles));
  s.graph.setInitialValue<int>(step, steps);
  s.graph.createHostRead("sum", sum);
  s.program.add(RepeatWhileFalse(Sequence(), done[0], Execute(s.set)));
  Engine engine = s.loaded();
  engine.run();
  std::vector<int> sums(kTiles);
  engine.readTensor("sum", sums.data(), sums.data() + kTiles);
  for (unsigned t = 0; t < kTiles; ++t) EXPECT_EQ(sums[t], static_cast<int>(3 * t * kSteps + 600)) << t;
}

TEST(Jumps, ToWhereNothingIsSet) {
  EXPECT_THAT(error_of("ToNowhere"), HasSubstr("tile 0: longjmp() to where no setjmp() was done"));
  EXPECT_THAT(error_of("ToAnEndedVertex", "SetHere"), HasSubstr("tile 0: longjmp() to where no setjmp() was done"));
}

TEST(Jumps, ManyTargets) { EXPECT_EQ(run_one("ManyTargets", "ManyTargets"), 2); }

TEST(Jumps, NotOnFibers) {
  EXPECT_THAT(error_of("SuspendsWhereItJumps"), HasSubstr("tile 0: suspend() outside a fiber"));
  EXPECT_THAT(error_of("OnAFiber"), HasSubstr("tile 0: setjmp() on a fiber"));
}

TEST(Jumps, TheirFunctionsAreOnlyCalled) {
  Setting s;
  std::stringstream text(
      "#include <poplar/Vertex.hpp>\n#include <setjmp.h>\nvoid (*jump)(jmp_buf, int) = longjmp;\n"
      "struct V : poplar::Vertex { jmp_buf *b() { static jmp_buf x; return &x; } void compute() { jump(*b(), 1); } };\n");
  try {
    s.graph.addCodelets(text);
    FAIL() << "the address of longjmp";
  } catch (const poplar_error& e) { EXPECT_THAT(e.what(), HasSubstr("the address of 'longjmp' is taken: it can only be called")); }
}

TEST(Jumps, StackRegisterAndCounterOfAnIpu) { EXPECT_EQ(run_one("OfAnIpu"), 1); }

// In a function of another file, which no vertex of that file reaches.
TEST(Jumps, OtherAssemblyOfAnIpuStopsTheProgram) {
  Directory d;
  Setting s;
  const std::string vertex =
      d.file("vertex.cpp",
             "#include <poplar/Vertex.hpp>\nunsigned of_an_ipu(unsigned);\nclass V : public poplar::Vertex {\n public:\n"
             "  poplar::Output<int> out;\n  void compute() { *out = of_an_ipu(1); }\n};\n");
  const std::string function =
      d.file("function.cpp", "unsigned of_an_ipu(unsigned x) { asm volatile(\"frobnicate %[x], $m4\" : [x] \"+r\"(x)::); return x; }\n");
  s.graph.addCodelets({vertex, function});
  s.graph.setTileMapping(s.graph.addVertex(s.set, "V", {{"out", s.variable(INT, {}, "out")}}), 0);
  s.program.add(Execute(s.set));
  Engine engine = s.loaded();
  try {
    engine.run();
    FAIL() << "assembly of an IPU ran";
  } catch (const application_runtime_error& e) {
    EXPECT_THAT(e.what(), HasSubstr("tile 0: assembly of an IPU in 'of_an_ipu(unsigned int)'"));
  }
}

}  // namespace
}  // namespace api
