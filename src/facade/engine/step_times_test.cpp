#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/files/testing.h"
#include "poplar/Engine.hpp"
#include "poplar/IPUModel.hpp"

namespace {

using namespace poplar;
using namespace poplar::program;

struct StepTimes : pando::InFreshFolder {};

struct Loop {
  Device device = IPUModel("tiny4").createDevice();
  Graph graph{device};
  Tensor a = graph.addVariable(INT, {6}, "a"), b = graph.addVariable(INT, {6}, "b");
  Loop() {
    graph.setTileMapping(a, 0);
    graph.setTileMapping(b, 1);
  }
  Repeat program{3, Sequence{Copy(a, b), Copy(b.reverse(0), a)}};
};

TEST_F(StepTimes, AreThoseOfAllRunsByStep) {
  const std::string file = (root / "times.json").string();
  Loop p;
  Engine engine(p.graph, p.program, {{"pando.stepTimes", file}});
  engine.load(p.device);
  engine.run();
  engine.run();
  const nlohmann::json times = nlohmann::json::parse(std::ifstream(file));
  EXPECT_EQ(times["runs"], 2);
  std::uint64_t exchanges = 0, ns = 0;
  for (const auto& step : times["steps"]) {
    if (step["kind"] == "exchange") {
      ++exchanges;
      EXPECT_EQ(step["times"], 6);
    }
    ns += step["ns"].get<std::uint64_t>();
  }
  EXPECT_EQ(exchanges, 2u);
  EXPECT_GT(ns, 0u);
  EXPECT_LE(ns, times["run_ns"].get<std::uint64_t>());
}

TEST_F(StepTimes, AFileThatCannotBeWrittenEndsTheRunWithItsName) {
  Loop p;
  Engine engine(p.graph, p.program, {{"pando.stepTimes", "/nowhere/times.json"}});
  engine.load(p.device);
  try {
    engine.run();
    FAIL();
  } catch (const file_load_error& e) { EXPECT_NE(std::string(e.what()).find("'/nowhere/times.json'"), std::string::npos) << e.what(); }
}

}  // namespace
