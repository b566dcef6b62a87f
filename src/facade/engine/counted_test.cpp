// Cycles of vertices that nothing estimates, through the public API: what a run's report says of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "poplar/Engine.hpp"
#include "poplar/IPUModel.hpp"
#include "profile/report.h"

namespace {

using namespace poplar;
using namespace poplar::program;
using testing::HasSubstr, testing::Not;

constexpr const char* kCodelets = R"(
#include <poplar/Vertex.hpp>
using namespace poplar;
class CountedScale : public Vertex { public: InOut<Vector<float>> x;
  void compute() { for (unsigned i = 0; i < x.size(); ++i) x[i] *= 2; } };
class CountedRounds : public Vertex { public: InOut<unsigned> rounds; Output<float> out;
  void compute() { float y = 1; for (unsigned i = 0; i < *rounds; ++i) y = y * 0.5f + 1; *out = y; *rounds += 10; } };
class CountedLog : public Vertex { public: InOut<float> x;
  void compute() { *x = log10f(*x); } };
class CountedTime : public Vertex { public: Input<Vector<float>> x; Output<unsigned> cycles;
  void compute() {
    const unsigned begin = __builtin_ipu_get_scount_l();
    float sum = 0;
    for (unsigned i = 0; i < x.size(); ++i) sum += x[i];
    *cycles = __builtin_ipu_get_scount_l() - begin + (sum > 1e9f); } };
)";

struct CountedProgram {
  Device device = IPUModel("tiny4").createDevice();
  Graph graph{device.getTarget()};
  explicit CountedProgram(const char* codelets = kCodelets) {
    std::stringstream source(codelets);
    if (*codelets) graph.addCodelets(source);
  }
  Tensor variable(const Type& type, std::size_t n, const char* name) {
    Tensor t = n > 1 ? graph.addVariable(type, {n}, name) : graph.addVariable(type, {}, name);
    graph.setTileMapping(t, 0);
    graph.createHostRead(name, t);
    graph.createHostWrite(name, t);
    return t;
  }
  Execute step(const char* codelet, const char* name, const std::vector<std::pair<std::string, Tensor>>& edges) {
    const ComputeSet cs = graph.addComputeSet(name);
    const VertexRef v = graph.addVertex(cs, codelet);
    for (const auto& [field, tensor] : edges) graph.connect(v[field], tensor);
    graph.setTileMapping(v, 0);
    return Execute(cs);
  }
};

std::map<std::string, std::uint64_t> cycles_by_step(Engine& engine) {
  std::map<std::string, std::uint64_t> out;
  const ProfileValue& steps = engine.getExecutionProfile()["simulation"]["steps"];
  for (std::size_t i = 0; i < steps.size(); ++i)
    out[steps[i]["name"].asString()] += static_cast<std::uint64_t>(steps[i]["cycles"].asNumber());
  return out;
}

TEST(CountedCycles, FollowFromSizes) {
  CountedProgram p;
  const Tensor a = p.variable(FLOAT, 100, "a"), b = p.variable(FLOAT, 200, "b"), c = p.variable(FLOAT, 300, "c");
  Engine engine(p.graph, Sequence({p.step("CountedScale", "s100", {{"x", a}}), p.step("CountedScale", "s200", {{"x", b}}),
                                   p.step("CountedScale", "s300", {{"x", c}})}));
  engine.loadAndRun(p.device);
  auto cycles = cycles_by_step(engine);
  EXPECT_GT(cycles["s100"], 81u + 6 * 100);
  EXPECT_EQ(cycles["s300"] - cycles["s200"], cycles["s200"] - cycles["s100"]);
  EXPECT_THAT(engine.getSummary(), HasSubstr("CountedScale  (counted)"));
  EXPECT_THAT(engine.getSummary(), Not(HasSubstr("Unestimated")));
}

TEST(CountedCycles, AreCountedAsTheyRun) {
  CountedProgram p;
  const Tensor rounds = p.variable(UNSIGNED_INT, 1, "rounds"), out = p.variable(FLOAT, 1, "out");
  const Execute step = p.step("CountedRounds", "rounds", {{"rounds", rounds}, {"out", out}});
  Engine engine(p.graph, Repeat(3, step));
  engine.load(p.device);
  const auto run = [&](unsigned first) {
    engine.resetExecutionProfile();
    engine.writeTensor("rounds", &first, &first + 1);
    engine.run();
    return cycles_by_step(engine)["rounds"];
  };
  const std::uint64_t a = run(5), b = run(6), c = run(7);  // 3 runs of the step: 5, 15, 25 rounds
  EXPECT_GT(b, a);
  EXPECT_EQ(c - b, b - a);
  EXPECT_EQ((b - a) % 3, 0u);
  unsigned rounds_now = 0;
  engine.readTensor("rounds", &rounds_now, &rounds_now + 1);
  EXPECT_EQ(rounds_now, 37u);
}

TEST(CountedCycles, AnEstimateComesFirst) {
  CountedProgram p;
  const Tensor x = p.variable(FLOAT, 100, "x");
  const ComputeSet cs = p.graph.addComputeSet("estimated");
  const VertexRef v = p.graph.addVertex(cs, "CountedScale", {{"x", x}});
  p.graph.setTileMapping(v, 0);
  p.graph.setPerfEstimate(v, 7);
  Engine engine(p.graph, Execute(cs));
  engine.loadAndRun(p.device);
  EXPECT_EQ(cycles_by_step(engine)["estimated"], 81u + 6 * 7);
  EXPECT_THAT(engine.getSummary(), Not(HasSubstr("(counted)")));
}

TEST(CountedCycles, WhatCannotBeCountedSaysWhy) {
  CountedProgram p;
  Engine engine(p.graph, p.step("CountedLog", "log", {{"x", p.variable(FLOAT, 1, "x")}}));
  engine.loadAndRun(p.device);
  EXPECT_THAT(engine.getSummary(), HasSubstr("  not counted: it calls log10, whose slots are not known"));
  EXPECT_THAT(engine.getSummary(), HasSubstr("1 of 1 executed vertices"));
}

// The report of a run, read again.
pando::profile::Report report_of(const std::string& flags) {
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / ("pando-lines-" + std::to_string(::getpid()) + flags);
  std::filesystem::create_directories(folder);
  {
    std::ofstream(folder / "counted.cpp") << kCodelets;
    CountedProgram p("");
    p.graph.addCodelets((folder / "counted.cpp").string(), CodeletFileType::Auto, flags);
    const Tensor a = p.variable(FLOAT, 100, "a"), rounds = p.variable(UNSIGNED_INT, 1, "rounds"), out = p.variable(FLOAT, 1, "out");
    const Sequence all(
        {p.step("CountedScale", "scale", {{"x", a}}), p.step("CountedRounds", "rounds", {{"rounds", rounds}, {"out", out}})});
    Engine engine(p.graph, Repeat(3, all), {{"autoReport.all", "true"}, {"autoReport.directory", folder.string()}});
    engine.load(p.device);
    const unsigned first = 5;
    engine.writeTensor("rounds", &first, &first + 1);
    engine.run();
  }
  std::ostringstream bytes;
  bytes << std::ifstream(folder / "profile.pando", std::ios::binary).rdbuf();
  std::filesystem::remove_all(folder);
  return pando::profile::read_report(bytes.str());
}

TEST(CountedCycles, ByLineAddUpInTheReport) {
  const pando::profile::Report with = report_of("-g"), without = report_of("-O2");
  ASSERT_EQ(with.codelets.size(), 2u);
  for (const pando::profile::CodeletCycles& c : with.codelets) {
    std::uint64_t sum = 0;
    for (const pando::profile::LineCycles& l : c.lines) sum += l.cycles;
    EXPECT_EQ(sum, c.cycles) << c.codelet;
    EXPECT_GT(c.cycles, 0u);
  }
  for (const pando::profile::CodeletCycles& c : without.codelets) EXPECT_TRUE(c.lines.empty());
  EXPECT_EQ(with.total_cycles, without.total_cycles);
}

// Also where nobody asks for a profile.
TEST(CountedCycles, TheCounterAdvancesInsideAVertex) {
  CountedProgram p;
  const Tensor a = p.variable(FLOAT, 100, "a"), b = p.variable(FLOAT, 200, "b"), c = p.variable(FLOAT, 300, "c");
  const Tensor ta = p.variable(UNSIGNED_INT, 1, "ta"), tb = p.variable(UNSIGNED_INT, 1, "tb"), tc = p.variable(UNSIGNED_INT, 1, "tc");
  Engine engine(p.graph,
                Sequence({p.step("CountedTime", "a", {{"x", a}, {"cycles", ta}}), p.step("CountedTime", "b", {{"x", b}, {"cycles", tb}}),
                          p.step("CountedTime", "c", {{"x", c}, {"cycles", tc}})}));
  engine.disableExecutionProfiling();
  engine.loadAndRun(p.device);
  unsigned t[3];
  engine.readTensor("ta", t, t + 1);
  engine.readTensor("tb", t + 1, t + 2);
  engine.readTensor("tc", t + 2, t + 3);
  EXPECT_GE(t[1] - t[0], 100u * 6 * 2);
  EXPECT_EQ(t[2] - t[1], t[1] - t[0]);
}

}  // namespace
