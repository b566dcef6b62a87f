// Runs, IPUs and the address map, as pva shows them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <sstream>
#include <string>
#include <vector>

#include "poplar/Engine.hpp"
#include "poplar/IPUModel.hpp"
#include "poplar/exceptions.hpp"
#include "pva/pva.hpp"

namespace {

using namespace poplar;
using namespace poplar::program;
using Type = pva::Program::Type;

// Two IPUs of four tiles: vertices on tiles 0 and 1 of the first (the second has twice the cycles), a copy within it, one to the other IPU.
struct TwoIpus {
  Device device = [] {
    IPUModel model("ipu2");
    model.numIPUs = 2;
    model.tilesPerIPU = 4;
    return model.createDevice();
  }();
  Graph graph{device.getTarget()};
  Tensor a = graph.addVariable(FLOAT, {2, 64}, "numbers"), b = graph.addVariable(FLOAT, {64}, "near"),
         c = graph.addVariable(FLOAT, {64}, "far");
  Sequence program;

  TwoIpus() {
    std::stringstream source(
        "#include <poplar/Vertex.hpp>\n"
        "class Twice : public poplar::Vertex { public: poplar::InOut<poplar::Vector<float>> x;\n"
        "  void compute() { for (unsigned i = 0; i < x.size(); ++i) x[i] *= 2; } };");
    graph.addCodelets(source);
    const ComputeSet cs = graph.addComputeSet("twice");
    for (unsigned i = 0; i < 2; ++i) {
      graph.setTileMapping(a[i], i);
      const VertexRef v = graph.addVertex(cs, "Twice", {{"x", a[i]}});
      graph.setTileMapping(v, i);
      graph.setPerfEstimate(v, 1000 * (i + 1));
    }
    graph.setTileMapping(b, 2);
    graph.setTileMapping(c, 5);
    graph.createHostWrite("in", a);
    graph.createHostRead("out", c);
    program = Sequence{Execute(cs), Copy(a[0], b, false, "near copy"), Copy(b, c, false, "far copy")};
  }

  // Of two runs, the second with a name.
  pva::Report report(const OptionFlags& options = {}) {
    Engine engine(graph, program, options);
    engine.load(device);
    engine.run(0);
    engine.disableExecutionProfiling();
    engine.run(0, "nobody looks");
    engine.enableExecutionProfiling();
    engine.run(0, "warm");
    return engine.getReport();
  }
};

TEST(Pva, RunsHaveNamesTimesAndSteps) {
  const pva::Report report =
      TwoIpus().report({{"autoReport.outputExecutionProfile", "true"}, {"autoReport.directory", testing::TempDir() + "pva_runs"}});
  const std::vector<pva::Run> runs = report.execution().runs();
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_EQ(runs[0].name(), "");
  EXPECT_EQ(runs[1].name(), "warm");
  EXPECT_EQ(runs[0].cycles().end(), runs[1].cycles().start());
  EXPECT_EQ(runs[0].microseconds().end(), runs[1].microseconds().start());
  EXPECT_LE(runs[1].microseconds().start(), runs[1].microseconds().end());
  std::map<std::string, std::uint64_t> once, summed;
  for (const pva::Run& run : runs) {
    std::uint64_t before = 0;
    for (const pva::Step& s : run.steps()) {
      once[s.stream() + s.kind() + s.name()] += s.executions();
      const pva::Interval active = s.ipus()[s.stream().starts_with("ipu0") ? 0 : 1].activeCycles();
      EXPECT_EQ(active.cyclesTo().max() - active.cyclesFrom().max(), s.cycles());
      EXPECT_GE(active.start(), std::max(before, run.cycles().start()));
      EXPECT_LE(active.end(), run.cycles().end());
      before = active.start();
    }
  }
  for (const pva::Step& s : report.execution().steps()) summed[s.stream() + s.kind() + s.name()] += s.executions();
  for (const auto& [step, n] : once) EXPECT_EQ(summed[step], n) << step;
  EXPECT_FALSE(once.empty());
}

TEST(Pva, WithoutAReportOfTheExecutionRunsHaveNoSteps) {
  const std::vector<pva::Run> runs = TwoIpus().report().execution().runs();
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_EQ(runs[1].name(), "warm");
  EXPECT_TRUE(runs[1].steps().empty());
}

TEST(Pva, WhatAStepCostsOnEachIpu) {
  const pva::Report report = TwoIpus().report();
  std::map<Type, unsigned> seen;
  for (const pva::Step& s : report.execution().steps()) {
    const std::vector<pva::StepOnIpu> ipus = s.ipus();
    ASSERT_EQ(ipus.size(), 2u);
    EXPECT_EQ(std::max(ipus[0].cycles(), ipus[1].cycles()), s.cycles());
    const Type type = s.program()->type();
    ++seen[type];
    if (s.kind() == "sync") EXPECT_EQ(type, Type::Sync);
    if (type == Type::OnTileExecute && s.stream() == "ipu0.compute") {
      EXPECT_EQ(ipus[0].activeTiles(), 2u);
      EXPECT_EQ(ipus[1].activeTiles(), 0u);
      EXPECT_NEAR(ipus[0].activeTileBalance(), 0.75, 0.01);
      EXPECT_NEAR(ipus[0].tileBalance(), 0.375, 0.01);
      EXPECT_EQ(ipus[0].dataIn(), 0u);
    }
    if (type == Type::GlobalExchange) {
      EXPECT_EQ(ipus[0].dataOut(), 2 * 256u);
      EXPECT_EQ(ipus[0].dataIn(), 0u);
      EXPECT_EQ(ipus[1].dataIn(), 2 * 256u);
    }
    if (type == Type::DoExchange) EXPECT_EQ(ipus[0].dataIn(), 2 * 256u);
  }
  // Once for each stream that takes part.
  EXPECT_GE(seen[Type::OnTileExecute], 1u);
  EXPECT_GE(seen[Type::DoExchange], 1u);
  EXPECT_GE(seen[Type::GlobalExchange], 1u);
}

TEST(Pva, VisitorsSeeExchangesBetweenIpus) {
  struct Names : pva::ProgramVisitor {
    std::vector<std::string> far, near, sets;
    void visitGlobalExchange(const pva::GlobalExchangeProgram& p) override { far.push_back(p.name()); }
    void visitDoExchange(const pva::DoExchangeProgram& p) override { near.push_back(p.name()); }
    void visitOnTileExecute(const pva::OnTileExecuteProgram& p) override { sets.push_back(p.computeset().name()); }
  } names;
  TwoIpus two;
  const pva::Report report = Engine(two.graph, two.program).getReport(false);
  for (const auto& p : report.compilation().programs()) p->accept(names);
  EXPECT_THAT(names.far, testing::ElementsAre("far copy"));
  EXPECT_THAT(names.near, testing::ElementsAre("near copy"));
  EXPECT_THAT(names.sets, testing::ElementsAre("twice"));
  const std::vector<pva::VertexInstances> vertices = report.compilation().computeSets()[0].vertices();
  EXPECT_THAT(vertices[0].countByTile(), testing::ElementsAre(1, 1, 0, 0, 0, 0, 0, 0));
  EXPECT_EQ(vertices[0].count(), 2u);
  EXPECT_EQ(report.compilation().ipus().size(), 2u);
  EXPECT_EQ(report.compilation().ipus()[1].tiles()[0].id(), 4u);
  EXPECT_EQ(report.compilation().target().type(), pva::Target::Type::IpuModel);
  EXPECT_EQ(report.compilation().target().tilesPerReplica(), 8u);
}

// Of one execution, whatever the report sums up; with the same numbers as the executed steps.
TEST(Pva, ComputeSetsAndExchangesHaveCyclesByTile) {
  TwoIpus two;
  const pva::Report report = two.report();
  const pva::ComputeSet twice = report.compilation().computeSets().at(0);
  const std::vector<std::uint64_t> cycles = twice.estimatedCyclesByTile();
  ASSERT_EQ(cycles.size(), 8u);
  EXPECT_GE(cycles[0], 6 * 1000u);
  EXPECT_GE(cycles[1], 6 * 2000u);
  EXPECT_LT(cycles[1], 6 * 2000u + 1000u);  // the workers take turns
  EXPECT_THAT(std::vector(cycles.begin() + 2, cycles.end()), testing::Each(0u));
  struct Exchanges : pva::ProgramVisitor {
    std::map<std::string, std::vector<std::uint64_t>> cycles;
    void visitDoExchange(const pva::DoExchangeProgram& p) override { cycles[p.name()] = p.estimatedCyclesByTile(); }
    void visitGlobalExchange(const pva::GlobalExchangeProgram& p) override { cycles[p.name()] = p.estimatedCyclesByTile(); }
  } seen;
  for (const auto& p : report.compilation().programs()) p->accept(seen);
  ASSERT_EQ(seen.cycles.size(), 2u);
  // On both streams of the IPU, and on both IPUs.
  EXPECT_GT(seen.cycles["near copy"].at(0), 0u);
  EXPECT_GT(seen.cycles["near copy"].at(2), 0u);
  EXPECT_EQ(seen.cycles["near copy"].at(5), 0u);
  EXPECT_GT(seen.cycles["far copy"].at(2), 0u);
  EXPECT_GT(seen.cycles["far copy"].at(5), 0u);

  const pva::Report not_run = Engine(two.graph, two.program).getReport(false);
  EXPECT_THROW(static_cast<void>(not_run.compilation().computeSets().at(0).estimatedCyclesByTile()), profiling_disabled);
  EXPECT_THROW(
      {
        Exchanges none;
        for (const auto& p : not_run.compilation().programs()) p->accept(none);
      },
      profiling_disabled);
}

TEST(Pva, LiveMemoryOfAnIpuIsThatOfItsTiles) {
  TwoIpus two;
  const pva::Report report = Engine(two.graph, two.program).getReport(false);
  std::uint64_t seen = 0;
  for (const pva::LivenessProgramStep& step : report.compilation().livenessProgramSteps()) {
    std::uint64_t both = 0;
    for (unsigned ipu = 0; ipu < 2; ++ipu) {
      const pva::LivenessMemory memory = step.notAlwaysLiveMemoryForIpu(ipu);
      std::uint64_t tiles = 0, variables = 0;
      for (unsigned tile = 4 * ipu; tile < 4 * ipu + 4; ++tile) tiles += step.notAlwaysLiveMemoryForTile(tile).bytes();
      for (const pva::LivenessVariable& v : memory.variables()) variables += v.size();
      EXPECT_EQ(memory.bytes(), tiles);
      EXPECT_EQ(memory.bytes(), variables);
      both += memory.bytes();
    }
    EXPECT_EQ(step.notAlwaysLiveMemory().bytes(), both);
    seen += both;
  }
  EXPECT_GT(seen, 0u);
  EXPECT_THROW(static_cast<void>(report.compilation().livenessProgramSteps().at(0).notAlwaysLiveMemoryForIpu(2)), index_error);
}

TEST(Pva, LoweredVariablesAreWhatTilesHold) {
  TwoIpus two;
  const pva::Compilation c = Engine(two.graph, two.program).getReport(false).compilation();
  const std::size_t steps = c.livenessProgramSteps().size();
  std::size_t all = 0;
  bool has_numbers = false;
  for (const pva::Tile& tile : c.tiles()) {
    std::vector<std::uint64_t> live(steps);
    std::uint64_t always = 0, before = 0;
    for (const pva::LoweredVariable& v : c.loweredVariables().forTile(tile.id())) {
      ++all;
      EXPECT_EQ(v.tileId(), tile.id());
      EXPECT_GE(v.offset(), before);
      before = v.offset();
      if (v.alwaysLive()) always += v.bytes();
      for (const pva::StepInterval& i : v.equivalenceClass().steps()) {
        ASSERT_LE(i.end(), steps);
        if (!v.alwaysLive())
          for (std::size_t k = i.start(); k < i.end(); ++k) live[k] += v.bytes();
      }
      if (v.name() == "numbers") {
        has_numbers = true;
        EXPECT_TRUE(v.hasUnloweredVar());
        EXPECT_EQ(v.unloweredVar().name(), "numbers");
        EXPECT_EQ(v.unloweredVar().size(), 256u);
      } else if (v.category() == "vertex code") {
        EXPECT_THROW(v.unloweredVar(), index_error);
      }
    }
    EXPECT_EQ(always, tile.memory().alwaysLiveBytes());
    for (std::size_t k = 0; k < steps; ++k) {
      EXPECT_EQ(live[k], c.livenessProgramSteps()[k].notAlwaysLiveMemoryForTile(tile.id()).bytes()) << tile.id() << " " << k;
    }
    EXPECT_EQ(tile.memory().overflowed().includingGaps(), 0u);
  }
  EXPECT_TRUE(has_numbers);
  EXPECT_EQ(c.loweredVariables().allBriefVars().size(), all);
  EXPECT_THROW(c.loweredVariables().forTile(8), index_error);
}

TEST(Pva, BytesBeyondATileAreOverflow) {
  Device device = IPUModel("tiny4").createDevice();
  Graph graph(device.getTarget());
  const std::size_t floats = graph.getTarget().getBytesPerTile() / 4 + 25;
  const Tensor x = graph.addVariable(FLOAT, {floats}, "x");
  graph.setTileMapping(x, 1);
  graph.createHostRead("x", x);
  const pva::Compilation c = Engine(graph, WriteUndef(x), {{"debug.allowOutOfMemory", "true"}}).getReport(false).compilation();
  EXPECT_GE(c.tiles()[1].memory().overflowed().excludingGaps(), 100u);
  EXPECT_EQ(c.tiles()[1].memory().overflowed().excludingGaps(), c.tiles()[1].memory().total() - c.target().bytesPerTile());
  EXPECT_EQ(c.tiles()[0].memory().overflowed(), 0u);
}

}  // namespace
