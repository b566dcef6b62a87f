// Traces of host code, and memory by category.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pvti/pvti.hpp>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "setting.h"

namespace api {
namespace {

using namespace poplar;
using namespace poplar::program;
using testing::HasSubstr;

pvti::TraceChannel channel = {"mine"};

std::string text_of(const std::string& file) {
  std::ostringstream out;
  out << std::ifstream(file).rdbuf();
  return out.str();
}

TEST(Trace, OfTheHostAndOfEngines) {
  Directory d;
  { pvti::Tracepoint before(&channel, "before it is enabled"); }
  EXPECT_FALSE(pvti::isEnabled());
  Setting s;
  s.add_codelets();
  const Tensor x = s.variable(FLOAT, {4}, "x"), y = s.variable(FLOAT, {4}, "y");
  s.scale(x, y);
  s.program.add(Block(Execute(s.set), "the work"));
  Engine engine(s.graph, s.program, {{"autoReport.outputExecutionProfile", "true"}, {"autoReport.directory", d / "report"}});
  EXPECT_TRUE(pvti::isEnabled());
  engine.load(s.device);
  {
    pvti::Tracepoint scope(&channel, "scope");
    pvti::Tracepoint named(&channel, "longer", 4);
    engine.run(0, "training");
  }
  pvti::Tracepoint::begin(&channel, "by name");
  pvti::Tracepoint::end(&channel, "by name");
  pvti::Graph graph("loss", "nats");
  graph.addPoint("train", 0.5);
  pvti::Series held_out = pvti::Graph("accuracy").addSeries("held out");
  held_out.add(3);
  pvti::flush();
  const std::string text = text_of(d / "report/trace.json");
  for (const char* part : {"\"ph\":\"B\"", "\"cat\":\"mine\",\"name\":\"scope\"", "\"name\":\"long\"",
                           "\"cat\":\"poplar\",\"name\":\"training\"", "\"ph\":\"E\"", "\"cat\":\"mine\",\"name\":\"by name\"",
                           "\"name\":\"loss (nats)\",\"args\":{\"train\":0.5}", "\"name\":\"accuracy\",\"args\":{\"held out\":3.0}"})
    EXPECT_THAT(text, HasSubstr(part));
  EXPECT_THAT(text, testing::Not(HasSubstr("before it is enabled")));
  const auto count = [&](const std::string& what) {
    std::size_t n = 0;
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
    return n;
  };
  EXPECT_EQ(count("\"ph\":\"B\""), count("\"ph\":\"E\""));
  EXPECT_EQ(text.substr(text.size() - 4), "\n]}\n");
}

// A process looks at the variable once: each case is one of its own.
TEST(TraceDeathTest, OptionsThatMeanNothingAreSaid) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto says = [](const char* options, const std::string& pattern) {
    setenv("PVTI_OPTIONS", options, 1);
    EXPECT_EXIT(
        {
          std::fprintf(stderr, "traced: %d\n", pvti::isEnabled());
          std::_Exit(0);
        },
        testing::ExitedWithCode(0), pattern)
        << options;
    unsetenv("PVTI_OPTIONS");
  };
  says("", "^traced: 0");
  says("{\"enable\":\"true\", \"directory\":\"/tmp\"}", "^traced: 1");
  says("{\"enable\":false}", "^traced: 0");
  says("\x1b[1mall", "warning: PVTI_OPTIONS: options are no JSON: '.x1b.1mall'; no trace is written\ntraced: 0");
  says("[true]", "warning: PVTI_OPTIONS: options must be a JSON object, not array; no trace is written\ntraced: 0");
  says("{\"enable\":\"yes\"}", "warning: PVTI_OPTIONS: 'enable' is 'yes'; expected true or false\ntraced: 0");
  says("{\"enable\":true, \"folder\":\"/tmp\"}",
       "warning: PVTI_OPTIONS: option 'folder' has no effect here; enable and directory have\ntraced: 1");
}

TEST(Profile, MemoryByCategory) {
  Setting s;
  s.add_codelets();
  const Tensor x = s.variable(FLOAT, {100}, "x", 2), y = s.variable(FLOAT, {100}, "y", 2);
  s.scale(x, y, 2, 2);
  s.program.add(Execute(s.set));
  Engine engine = s.loaded();
  const ProfileValue& memory = engine.getGraphProfile()["memory"];
  const ProfileValue& categories = memory["byCategory"];
  EXPECT_EQ(categories["variable"]["total"].size(), 4u);
  EXPECT_EQ(categories["variable"]["total"][2].asUint(), 800u);
  EXPECT_EQ(categories["variable"]["total"][1].asUint(), 0u);
  EXPECT_GT(categories["vertexCode"]["total"][2].asUint(), 0u);
  EXPECT_GT(categories["vertexInstanceState"]["nonInterleaved"]["nonOverlapped"].sumUint(), 0u);
  for (const char* name : {"internalExchangeCode", "copyDescriptor", "vectorListDescriptor", "vertexFieldData"})
    for (const char* where : {"nonInterleaved", "interleaved", "overflowed"}) {
      EXPECT_EQ(categories[name][where]["nonOverlapped"].size(), 4u);
      EXPECT_EQ(categories[name][where]["overlapped"].sumUint(), 0u);
    }
  double sum = 0;
  for (const auto& [name, category] : categories.asMap()) sum += category["total"][2].asNumber();
  EXPECT_EQ(sum, memory["byTile"]["total"][2].asNumber());
}

TEST(VirtualGraphs, ListedTilesOfEachIpu) {
  Setting s(2);
  Graph virtual_graph = s.graph.createVirtualGraph(std::vector<unsigned>{1, 3});
  EXPECT_EQ(virtual_graph.getTarget().getNumIPUs(), 2u);
  EXPECT_EQ(virtual_graph.getTarget().getNumTiles(), 4u);
  for (const auto& [own, physical] : {std::pair(0u, 1u), {1u, 3u}, {2u, 5u}, {3u, 7u}})
    EXPECT_EQ(virtual_graph.convertVirtualTileToPhysicalTile(own), physical);
  EXPECT_EQ(s.graph.createVirtualGraph(std::vector<unsigned>{5, 6}).convertVirtualTileToPhysicalTile(1), 6u);
}

}  // namespace
}  // namespace api
