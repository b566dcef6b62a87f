// Whole runs through the public API without codelets: copies, streams, handles, control, cycle stamps, reports, executables.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>

#include "pando/in_place.hpp"
#include "poplar/CycleCount.hpp"
#include "poplar/Engine.hpp"
#include "poplar/IPUModel.hpp"
#include "poplar/RandomSeed.hpp"
#include "pva/pva.hpp"

namespace {

using namespace poplar;
using namespace poplar::program;

template <class E, class F>
void expect_error(F f, const std::string& part) {
  try {
    f();
    FAIL() << "nothing was thrown; expected: " << part;
  } catch (const E& e) {
    EXPECT_EQ(typeid(e), typeid(E));
    EXPECT_NE(std::string(e.what()).find(part), std::string::npos) << e.what();
  }
}

struct Tiny {
  IPUModel model{"tiny4"};
  Device device = model.createDevice();
  Graph graph{device};
  Tensor variable(const Type& type, std::vector<std::size_t> shape, const char* name, unsigned tile = 0) {
    Tensor t = graph.addVariable(type, shape, name);
    graph.setTileMapping(t, tile);
    return t;
  }
};

TEST(Engine, CopiesBetweenTilesAndHandles) {
  Tiny m;
  const Tensor a = m.variable(INT, {6}, "a", 0), b = m.variable(INT, {2, 3}, "b", 3);
  m.graph.createHostWrite("a", a);
  m.graph.createHostRead("b", b);
  Engine engine(m.graph, Copy(a.reshape({3, 2}).transpose(), b));
  std::vector<int> in = {0, 1, 2, 3, 4, 5}, out(6);
  expect_error<poplar_error>([&] { engine.run(); }, "not loaded");
  engine.load(m.device);
  engine.writeTensor("a", in.data(), in.data() + 6);
  engine.run();
  engine.readTensor("b", out.data());
  EXPECT_EQ(out, (std::vector<int>{0, 2, 4, 1, 3, 5}));
  expect_error<control_program_error>([&] { engine.run(1); }, "there is no program 1");
  EXPECT_THROW(engine.readTensor("a", out.data()), poplar_error);                 // made for writing only
  EXPECT_THROW(engine.writeTensor("a", in.data(), in.data() + 5), poplar_error);  // one element short
  EXPECT_THROW(engine.readTensor("nothing", out.data()), poplar_error);
}

TEST(Engine, StreamsWrapCallBackAndStayOverLoads) {
  Tiny m;
  const Tensor t = m.variable(FLOAT, {2}, "t");
  const DataStream in = m.graph.addHostToDeviceFIFO("in", FLOAT, 2), out = m.graph.addDeviceToHostFIFO("out", FLOAT, 2);
  Engine engine(m.graph, Repeat(3, Sequence({Copy(in, t), Copy(t, out)})));
  std::vector<float> source = {1, 2, 3, 4}, seen;
  engine.connectStream("in", source.data(), source.data() + 4);  // before load
  engine.connectStreamToCallback(out, [&](void* p) { seen.insert(seen.end(), static_cast<float*>(p), static_cast<float*>(p) + 2); });
  engine.load(m.device);
  engine.run();
  EXPECT_EQ(seen, (std::vector<float>{1, 2, 3, 4, 1, 2}));
  engine.load(m.device);
  engine.run();
  EXPECT_EQ(seen.size(), 12u);
  expect_error<stream_connection_error>([&] { engine.connectStream("inn", source.data()); }, "'inn'");
  expect_error<stream_connection_error>([&] { engine.connectStream("in", source.data(), source.data() + 3); }, "in");
  expect_error<graph_replication_error>([&] { engine.connectStreamToCallback("in", 1, [](void*) {}); }, "replica 1");
}

// Their block is the tensor, where that is in one piece; elsewhere and for other callbacks it lies beside it.
TEST(Engine, InPlaceCallbacksGetTheTensorItself) {
  Tiny m;
  const Tensor whole = m.variable(FLOAT, {64}, "whole", 2), spread = m.graph.addVariable(FLOAT, {64}, "spread");
  for (unsigned tile = 0; tile < 4; ++tile) m.graph.setTileMapping(spread.slice(16 * tile, 16 * tile + 16), 3 - tile);
  Sequence prog;
  const auto add = [&](const std::string& name, const Tensor& t) {
    prog.add(Copy(m.graph.addHostToDeviceFIFO("to " + name, FLOAT, 64), t));
    prog.add(Copy(t, m.graph.addDeviceToHostFIFO("from " + name, FLOAT, 64)));
  };
  add("whole", whole);
  add("spread", spread);
  Engine engine(m.graph, prog);
  for (const bool in_place : {true, false}) {
    float sent = 0;
    std::map<std::string, void*> blocks;
    for (const std::string name : {"whole", "spread"}) {
      const auto fill = [&, name](void* p) {
        blocks["to " + name] = p;
        for (unsigned i = 0; i < 64; ++i) static_cast<float*>(p)[i] = ++sent;
      };
      const auto take = [&, name](void* p) {
        blocks["from " + name] = p;
        for (unsigned i = 0; i < 64; ++i) EXPECT_EQ(static_cast<const float*>(p)[i], sent - 63 + static_cast<float>(i)) << name;
      };
      if (in_place) {
        engine.connectStreamToCallback("to " + name, std::make_unique<pando::InPlaceCallback>(fill));
        engine.connectStreamToCallback("from " + name, std::make_unique<pando::InPlaceCallback>(take));
      } else {
        engine.connectStreamToCallback("to " + name, fill);
        engine.connectStreamToCallback("from " + name, take);
      }
    }
    engine.load(m.device);
    for (int run = 0; run < 2; ++run) engine.run();
    EXPECT_EQ(sent, 256);
    EXPECT_EQ(blocks["to whole"] == blocks["from whole"], in_place);
    EXPECT_NE(blocks["to spread"], blocks["from spread"]);
  }
  expect_error<stream_connection_error>([] { pando::InPlaceCallback(nullptr); }, "the function is empty");
}

TEST(Engine, UnconnectedStreamIsAnError) {
  Tiny m;
  const Tensor t = m.variable(FLOAT, {2}, "t");
  Engine engine(m.graph, Copy(m.graph.addHostToDeviceFIFO("images", FLOAT, 2), t));
  engine.load(m.device);
  expect_error<stream_connection_error>([&] { engine.run(); }, "images");
}

TEST(Engine, FaultsOfTheGraphAreFoundWhenCompiling) {
  Tiny m;
  const Tensor a = m.graph.addVariable(INT, {2}, "a"), b = m.variable(INT, {2}, "b");
  expect_error<invalid_tile_mapping>([&] { Engine(m.graph, Copy(a, b)); }, "a");
  expect_error<invalid_option>([&] { Engine(m.graph, Sequence(), {{"debug.speed", "1"}}); }, "Unrecognised option 'debug.speed'");
}

TEST(Engine, OtherTargetIsRejected) {
  Tiny m;
  Engine engine(m.graph, Copy(m.variable(INT, {2}, "a"), m.variable(INT, {2}, "b", 1)));
  expect_error<poplar_error>([&] { engine.load(IPUModel("ipu1").createDevice()); }, "another target");
}

TEST(Engine, StopsWithErrors) {
  Tiny m;
  const Tensor t = m.variable(INT, {2}, "t");
  m.graph.setInitialValue(t, std::vector<int>{5, 6});
  Engine engine(m.graph, ErrorProgram("too hot", t));
  engine.load(m.device);
  expect_error<application_runtime_error>([&] { engine.run(); }, "too hot");
}

TEST(Engine, PrintsTensors) {
  Tiny m;
  const Tensor t = m.graph.addConstant<float>(FLOAT, {4}, {7.0, 6.0, 4.5, 2.5});
  m.graph.setTileMapping(t, 0);
  Engine engine(m.graph, PrintTensor("v2", t));
  std::ostringstream out;
  engine.setPrintStream(out);
  engine.load(m.device);
  engine.run();
  EXPECT_EQ(out.str(), "v2: [7.0000000 6.0000000 4.5000000 2.5000000]\n");
}

TEST(Engine, CountsCycles) {
  Tiny m;
  const Tensor a = m.variable(INT, {1000}, "a"), b = m.variable(INT, {1000}, "b", 3);
  Sequence prog{Copy(a, b)};
  const Tensor cycles = cycleCount(m.graph, prog, 0);
  m.graph.createHostRead("cycles", cycles);
  Engine engine(m.graph, prog);
  engine.load(m.device);
  std::uint64_t counted[2] = {};
  for (std::uint64_t& c : counted) {
    engine.run();
    engine.readTensor("cycles", &c);
  }
  EXPECT_GE(counted[0], 1000u);  // 4 bytes per cycle
  EXPECT_EQ(counted[0], counted[1]);
}

TEST(Engine, SeedsAreKept) {
  Tiny m;
  const Tensor seed = m.graph.addConstant<unsigned>(UNSIGNED_INT, {2}, {3u, 4u});
  m.graph.setTileMapping(seed, 0);
  Sequence prog;
  const Tensor before = getHwSeeds(m.graph, prog);
  setHwSeeds(m.graph, seed.broadcast(48, 0).reshape({4, 6, 4}), prog);
  const Tensor after = getHwSeeds(m.graph, prog);
  EXPECT_EQ(after.shape(), (std::vector<std::size_t>{4, 6, 4}));
  m.graph.createHostRead("before", before);
  m.graph.createHostRead("after", after);
  Engine engine(m.graph, prog);
  engine.load(m.device);
  engine.run();
  std::vector<unsigned> words(96);
  engine.readTensor("before", words.data(), words.data() + 96);
  EXPECT_EQ(words, std::vector<unsigned>(96, 0));
  engine.readTensor("after", words.data(), words.data() + 96);
  EXPECT_EQ(words[94], 3u);
  EXPECT_EQ(words[95], 4u);
}

TEST(Engine, OutOfMemoryIsReported) {
  Tiny m;
  const Tensor big = m.variable(FLOAT, {1 << 22}, "huge", 2), other = m.variable(FLOAT, {1 << 22}, "vast", 2);
  m.graph.createHostWrite("w", big);
  const Program prog = Copy(big, other);
  const std::string directory = testing::TempDir() + "pando_report";
  try {
    Engine engine(m.graph, prog, {{"autoReport.all", "true"}, {"autoReport.directory", directory}});
    FAIL() << "32 MiB fit a tile";
  } catch (const graph_memory_allocation_error& e) {
    EXPECT_NE(std::string(e.what()).find("tile 2"), std::string::npos) << e.what();
    EXPECT_NE(std::string(e.what()).find("huge"), std::string::npos) << e.what();
    EXPECT_EQ(pva::openReport(e.profilePath).compilation().tiles().size(), 4u);
    EXPECT_FALSE(pva::openReport(e.profilePath).compilation().outOfMemory().empty());
    EXPECT_GT(e.graphProfile["memory"]["byTile"]["total"][2].asNumber(), 1 << 24);
    std::ostringstream summary;
    printGraphSummary(summary, e.graphProfile, {{"showVarStorage", "true"}});
    EXPECT_NE(summary.str().find("tile 2: 32.0 MiB"), std::string::npos) << summary.str();
  }
  Engine allowed(m.graph, prog, {{"debug.allowOutOfMemory", "true"}});
  std::ostringstream summary;
  allowed.printProfileSummary(summary);
  EXPECT_FALSE(summary.str().empty());
  allowed.load(m.device);  // a model
  allowed.run();
  std::filesystem::remove_all(directory);
}

TEST(Engine, AStreamWithoutElementsTakesAVectorWithout) {
  Tiny m;
  const DataStream in = m.graph.addHostToDeviceFIFO("in", INT, 0), out = m.graph.addDeviceToHostFIFO("out", INT, 0);
  const Tensor none = m.variable(INT, {0}, "none");
  Engine engine(m.graph, Sequence{Copy(in, none), Copy(none, out)});
  std::vector<int> values, others(1);
  engine.connectStream("in", values.data(), values.data() + values.size());
  engine.connectStream("out", others.data(), others.data());
  engine.load(m.device);
  engine.run();
  expect_error<stream_connection_error>([&] { engine.connectStream("out", others.data() + 1, others.data()); }, "-4 bytes");
}

TEST(Engine, ReportsWhatRan) {
  Tiny m;
  Engine engine(m.graph, Copy(m.variable(INT, {100}, "a"), m.variable(INT, {100}, "b", 1)));
  engine.load(m.device);
  EXPECT_FALSE(engine.getReport(false).hasExecution());
  engine.run();
  const pva::Report report = engine.getReport();
  EXPECT_EQ(report.compilation().graph().numVars(), 2u);
  EXPECT_EQ(report.compilation().target().numTiles(), 4u);
  EXPECT_GT(report.execution().totalCycles(), 0u);
  std::ostringstream summary;
  engine.printProfileSummary(summary, {{"showExecutionSteps", "true"}});
  EXPECT_NE(summary.str().find("ycles"), std::string::npos);
  expect_error<invalid_option>([&] { engine.printProfileSummary(summary, {{"showAll", "true"}}); }, "Unrecognised option 'showAll'");
}

TEST(Executable, RunsAfterSerialising) {
  std::stringstream file;
  {
    Tiny m;
    const Tensor a = m.variable(INT, {3}, "a"), b = m.variable(INT, {3}, "b", 1);
    m.graph.setInitialValue(a, std::vector<int>{7, 8, 9});
    m.graph.createHostRead("b", b);
    Sequence prog{Copy(a, b)};
    cycleCount(m.graph, prog, 0);  // a built-in codelet goes with it
    compileGraph(m.graph, {prog}).serialize(file);
  }
  std::string bytes = file.str();
  Engine engine(Executable::deserialize(file));
  engine.load(IPUModel("tiny4").createDevice());
  engine.run();
  std::vector<int> out(3);
  engine.readTensor("b", out.data());
  EXPECT_EQ(out, (std::vector<int>{7, 8, 9}));
  const auto load = [](std::string text) {
    std::istringstream in(std::move(text));
    Executable::deserialize(in);
  };
  expect_error<graph_object_load_error>([&] { load("no executable at all"); }, "no executable");
  for (const std::size_t position : {std::size_t{40}, bytes.size() / 2, bytes.size() - 1}) {
    std::string broken = bytes;
    broken[position] = static_cast<char>(broken[position] ^ 0x55);
    EXPECT_THROW(load(broken), graph_object_load_error) << position;
    EXPECT_THROW(load(bytes.substr(0, position)), graph_object_load_error) << position;
  }
}

TEST(Dumps, LevelsOfTheLogAreThoseThatAreKnown) {
  Tiny m;
  const Program prog = Copy(m.variable(INT, {3}, "a"), m.variable(INT, {3}, "b", 1));
  for (const char* level : {"", "OFF", "ERR", "WARN", "INFO", "DEBUG", "TRACE"}) {
    setenv("POPLAR_LOG_LEVEL", level, 1);
    testing::internal::CaptureStderr();
    compileGraph(m.graph, {prog});
    const bool logs = std::string(level) == "DEBUG" || std::string(level) == "TRACE";
    EXPECT_EQ(testing::internal::GetCapturedStderr().find("[compile] ") != std::string::npos, logs) << level;
  }
  setenv("POPLAR_LOG_LEVEL", "loud", 1);
  expect_error<invalid_option>([&] { compileGraph(m.graph, {prog}); },
                               "POPLAR_LOG_LEVEL is 'loud'; expected OFF, ERR, WARN, INFO, DEBUG, TRACE");
  unsetenv("POPLAR_LOG_LEVEL");
}

TEST(Dumps, GoToTheFile) {
  const std::string path = testing::TempDir() + "pando_dump.txt";
  Tiny m;
  const Program prog = Copy(m.variable(INT, {3}, "marked"), m.variable(INT, {3}, "b", 1));
  setenv("PANDO_DUMP_LEVEL", "graph", 1);
  setenv("PANDO_DUMP_FILE", path.c_str(), 1);
  compileGraph(m.graph, {prog});
  setenv("PANDO_DUMP_LEVEL", "plan", 1);
  setenv("PANDO_DUMP_TILE", "1", 1);
  compileGraph(m.graph, {prog});
  setenv("PANDO_DUMP_TILE", "99999999", 1);
  expect_error<index_error>([&] { compileGraph(m.graph, {prog}); }, "PANDO_DUMP_TILE is 99999999; the graph is for ");
  unsetenv("PANDO_DUMP_TILE");
  setenv("PANDO_DUMP_LEVEL", "all", 1);
  expect_error<invalid_option>([&] { compileGraph(m.graph, {prog}); }, "PANDO_DUMP_LEVEL is 'all'");
  unsetenv("PANDO_DUMP_LEVEL");
  unsetenv("PANDO_DUMP_FILE");
  std::ifstream in(path);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  EXPECT_NE(text.find("marked"), std::string::npos);
  EXPECT_NE(text.find("# after lay_out_variables\nsh1 on t1: variable \"b\", 12 bytes"), std::string::npos) << text;
  EXPECT_EQ(text.find("on t0: variable"), std::string::npos) << text;
  std::filesystem::remove(path);
}

}  // namespace
