// Programs that are measured as a whole: options, nesting, loops, streams, and what comes back from a file.
#include <gtest/gtest.h>

#include <filesystem>

#include "poplar/CycleCount.hpp"
#include "poplar/Engine.hpp"
#include "poplar/IPUModel.hpp"
#include "pva/pva.hpp"

namespace {

using namespace poplar;
using namespace poplar::program;

struct Tiny {
  IPUModel model{"tiny4"};
  Device device = model.createDevice();
  Graph graph{device};
  Tensor a = variable("a", 0), b = variable("b", 3);
  DataStream in = graph.addHostToDeviceFIFO("in", INT, 64);

  Tensor variable(const char* name, unsigned tile) {
    Tensor t = graph.addVariable(INT, {64}, name);
    graph.setTileMapping(t, tile);
    return t;
  }
  Program copy(const char* name) { return Copy(a, b, false, name); }

  pva::Report run(const Program& program, const OptionFlags& options, unsigned runs = 1) {
    Engine engine(graph, program, options);
    static std::vector<int> source(64);
    engine.connectStream("in", source.data());
    engine.load(device);
    for (unsigned i = 0; i < runs; ++i) engine.run();
    return engine.getReport();
  }
};

std::vector<std::string> names(const std::vector<pva::Block>& blocks) {
  std::vector<std::string> list;
  for (const pva::Block& b : blocks) list.push_back(b.program()->name());
  return list;
}

TEST(Blocks, NothingIsMeasuredThatNobodyAskedFor) {
  Tiny m;
  const pva::Report report = m.run(Block(m.copy("x"), "stage1"), {});
  EXPECT_TRUE(report.execution().blocks(0).empty());
}

TEST(Blocks, EachExecutionIsOneOfThem) {
  Tiny m;
  const Program stage = Block(Sequence({m.copy("x"), Repeat(2, m.copy("y"))}), "stage1");
  const pva::Report plain = m.run(Repeat(3, stage), {}, 2);
  const pva::Report report = m.run(Repeat(3, stage), {{"profiler.blocks.filter", "stage.*"}}, 2);
  EXPECT_EQ(report.execution().totalCycles(), plain.execution().totalCycles());  // marks cost nothing
  const std::vector<pva::Block> blocks = report.execution().blocks(1);
  ASSERT_EQ(blocks.size(), 6u);
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    EXPECT_EQ(blocks[i].program()->name(), "stage1");
    EXPECT_EQ(6 * (blocks[i].cyclesTo() - blocks[i].cyclesFrom()), report.execution().totalCycles());
    EXPECT_EQ(blocks[i].cyclesFrom(), i * report.execution().totalCycles() / 6);
    EXPECT_TRUE(blocks[i].isCommon() && !blocks[i].isStreamCopy() && !blocks[i].isOverflow() && !blocks[i].isBlockFlush());
    EXPECT_EQ(blocks[i].tile(), 1u);
  }
}

TEST(Blocks, TheyNestAndTheFilterIsAboutWholeNames) {
  Tiny m;
  const Program inner = Block(m.copy("x"), "op2"), other = Block(m.copy("x"), "op22");
  const pva::Report report =
      m.run(Repeat(2, Block(Sequence({m.copy("x"), inner, other}), "stage1")), {{"profiler.blocks.filter", "stage.|op2"}});
  const std::vector<pva::Block> blocks = report.execution().blocks(0);
  EXPECT_EQ(names(blocks), (std::vector<std::string>{"stage1", "op2", "stage1", "op2"}));
  EXPECT_LT(blocks[0].cyclesFrom(), blocks[1].cyclesFrom());
  EXPECT_GT(blocks[0].cyclesTo(), blocks[1].cyclesTo());
  EXPECT_LE(blocks[0].cyclesTo(), blocks[2].cyclesFrom());
}

TEST(Blocks, OtherProgramsByTheirNames) {
  Tiny m;
  const pva::Report report = m.run(Sequence({m.copy("x"), m.copy("y"), m.copy("x")}), {{"profiler.programs.filter", "x"}});
  EXPECT_EQ(names(report.execution().blocks(0)), (std::vector<std::string>{"x", "x"}));
}

TEST(Blocks, StreamCopies) {
  Tiny m;
  const pva::Report report = m.run(Repeat(2, Sequence({Copy(m.in, m.a), m.copy("x")})), {{"debug.instrumentExternalExchange", "true"}});
  const std::vector<pva::Block> blocks = report.execution().blocks(0);
  ASSERT_EQ(blocks.size(), 2u);
  EXPECT_TRUE(blocks[0].isStreamCopy() && !blocks[0].isCommon());
  EXPECT_EQ(blocks[0].program()->type(), pva::Program::Type::StreamCopyMid);
  EXPECT_GT(blocks[0].cyclesTo(), blocks[0].cyclesFrom());
}

TEST(Blocks, AnOptionThatIsNoExpressionAndATileThatIsNone) {
  Tiny m;
  EXPECT_THROW(m.run(m.copy("x"), {{"profiler.blocks.filter", "("}}), invalid_option);
  const pva::Report report = m.run(m.copy("x"), {{"profiler.programs.filter", "x"}});
  EXPECT_THROW(report.execution().blocks(4), index_error);
}

TEST(Blocks, ARunThatFailedLeavesNone) {
  Tiny m;
  m.graph.createHostWrite("a", m.a);
  Engine engine(m.graph, Block(Sequence({m.copy("x"), AbortOnCondition(m.a[0], "stop")}), "stage"), {{"profiler.blocks.filter", "stage"}});
  engine.load(m.device);
  std::vector<int> values(64, 1);
  engine.writeTensor("a", values.data());
  EXPECT_THROW(engine.run(), runtime_error);
  values[0] = 0;
  engine.load(m.device);
  engine.writeTensor("a", values.data());
  engine.run();
  EXPECT_EQ(engine.getReport().execution().blocks(0).size(), 1u);
}

TEST(Blocks, AreInTheReportsFile) {
  Tiny m;
  const auto folder = std::filesystem::temp_directory_path() / "pando_blocks_test";
  std::filesystem::remove_all(folder);
  const pva::Report report =
      m.run(Block(m.copy("x"), "stage1"),
            {{"profiler.blocks.filter", "stage1"}, {"autoReport.all", "true"}, {"autoReport.directory", folder.string()}});
  const std::vector<pva::Block> blocks = pva::openReport((folder / "profile.pop").string()).execution().blocks(2);
  EXPECT_EQ(names(blocks), (std::vector<std::string>{"stage1"}));
  EXPECT_EQ(blocks[0].cyclesTo(), report.execution().blocks(0)[0].cyclesTo());
  std::filesystem::remove_all(folder);
}

}  // namespace
