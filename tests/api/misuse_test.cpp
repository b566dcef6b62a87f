// Null pointers, objects that were moved from, and nesting without end: exceptions.
#include <gtest/gtest.h>
#include <pando/host.hpp>
#include <poplar/exceptions.hpp>
#include <pva/pva.hpp>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>

#include "setting.h"

namespace api {
namespace {

using namespace poplar;
using namespace poplar::program;

struct Row {
  const char* name;
  std::function<void()> use;
};

template <class E>
void expect_rejected(const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    try {
      row.use();
      ADD_FAILURE() << row.name << ": nothing was thrown";
    } catch (const E&) {
    } catch (const std::exception& e) { ADD_FAILURE() << row.name << ": " << typeid(e).name() << ": " << e.what(); }
  }
}

TEST(Misuse, NullPointers) {
  Setting s;
  s.add_codelets();
  Graph& g = s.graph;
  Tensor x = s.variable(FLOAT, {4}, "x");
  g.createHostWrite("x", x);
  g.createHostRead("x", x);
  g.addRemoteBuffer("far", FLOAT, 4, 2);
  Engine engine = s.loaded();
  float block[4] = {};
  Tensor* const none[] = {nullptr};
  expect_rejected<poplar_error>({
      {"reorderToSimplify", [&] { g.reorderToSimplify(nullptr, {}); }},
      {"reorderToSimplify with", [&] { g.reorderToSimplify(&x, none); }},
      {"addConstant", [&] { g.addConstant(FLOAT, {4}, static_cast<const float*>(nullptr)); }},
      {"setInitialValue", [&] { g.setInitialValue(x, ArrayRef<float>(nullptr, 4)); }},
      {"connect to values", [&] { g.connect(g.addVertex(s.set, "Scale")["x"], ArrayRef<float>(nullptr, 4)); }},
      {"registerPerfEstimator", [&] { g.registerPerfEstimator("Scale", PerfEstimateFunc()); }},
      {"registerCycleEstimator", [&] { g.registerCycleEstimator("Scale", CycleEstimateFunc()); }},
      {"deserialize", [&] { Executable::deserialize(std::unique_ptr<std::istream>()); }},
      {"set_image", [&] { pando::set_image(g, "image", nullptr, 4); }},
      {"writeTensor", [&] { engine.writeTensor("x", nullptr); }},
      {"writeTensor of a range", [&] { engine.writeTensor("x", nullptr, nullptr); }},
      {"readTensor", [&] { engine.readTensor("x", nullptr); }},
      {"writeTensor backwards", [&] { engine.writeTensor("x", block + 4, block); }},
      {"readTensor backwards", [&] { engine.readTensor("x", block + 4, block); }},
      {"copyToRemoteBuffer", [&] { engine.copyToRemoteBuffer(static_cast<const void*>(nullptr), "far", 0); }},
      {"copyFromRemoteBuffer", [&] { engine.copyFromRemoteBuffer("far", static_cast<void*>(nullptr), 0); }},
  });
}

TEST(Misuse, WhatWasMovedFrom) {
  Setting s;
  Engine engine = s.loaded();
  Engine other = std::move(engine);
  Graph graph = std::move(s.graph);
  Executable compiled = compileGraph(graph, {Sequence()});
  Executable kept = std::move(compiled);
  std::ostringstream out;
  expect_rejected<poplar_error>({
      {"run", [&] { engine.run(0); }},
      {"load", [&] { engine.load(s.device); }},
      {"stop", [&] { engine.stop(); }},
      {"connectStream", [&] { engine.connectStream("x", &out); }},
      {"readTensor", [&] { engine.readTensor("x", &out); }},
      {"getReport", [&] { engine.getReport(); }},
      {"getTileClockFrequency", [&] { engine.getTileClockFrequency(); }},
      {"serializeExecutable", [&] { engine.serializeExecutable(out); }},
      {"serialize", [&] { compiled.serialize(out); }},
      {"Engine of it", [&] { Engine e(std::move(compiled)); }},
      {"addVariable", [&] { s.graph.addVariable(FLOAT, {1}); }},
      {"compileGraph", [&] { compileGraph(s.graph, {Sequence()}); }},
      {"outputVertexGraph", [&] { s.graph.outputVertexGraph(out); }},
      {"add to a Switch",
       [&] {
         Switch a(graph.addVariable(INT, {}));
         Switch b = std::move(a);
         a.add(1, Sequence());
       }},
  });
  other.run(0);
  Sequence first, second = std::move(first);
  first.add(Sequence());
}

TEST(Misuse, NestingWithoutEnd) {
  Setting s;
  const Tensor x = s.variable(INT, {}, "x");
  Sequence in;
  Program around = Sequence();
  Function f = s.graph.addFunction(Sequence());
  expect_rejected<control_program_error>({
      {"Sequence",
       [&] {
         for (int i = 0; i < 50'000; ++i) {
           Sequence out;
           out.add(around);
           around = out;
         }
       }},
      {"a list",
       [&] {
         Program p;
         for (int i = 0; i < 50'000; ++i) p = Sequence({p});
       }},
      {"itself",
       [&] {
         for (int i = 0; i < 50'000; ++i) in.add(in);
       }},
      {"Repeat",
       [&] {
         Program p;
         for (int i = 0; i < 50'000; ++i) p = Repeat(1, p);
       }},
      {"If",
       [&] {
         Program p;
         for (int i = 0; i < 50'000; ++i) p = If(x, Sequence(), p);
       }},
      {"Switch",
       [&] {
         Program p;
         for (int i = 0; i < 50'000; ++i) p = Switch(x, {{1, p}});
       }},
      {"RepeatWhileTrue",
       [&] {
         Program p;
         for (int i = 0; i < 50'000; ++i) p = RepeatWhileTrue(p, x, Sequence());
       }},
      {"Call",
       [&] {
         Program p;
         for (int i = 0; i < 50'000; ++i) p = Call(p);
       }},
      {"functions",
       [&] {
         for (int i = 0; i < 50'000; ++i) f = s.graph.addFunction(Call(f));
         Engine(s.graph, Call(f));
       }},
  });
  Program deep;
  Setting fresh;
  const Tensor y = fresh.variable(FLOAT, {4}, "y"), z = fresh.variable(FLOAT, {4}, "z");
  deep = Copy(y, z);
  for (int i = 0; i < 990; ++i) deep = Repeat(1, deep);
  Engine engine(fresh.graph, deep);
  engine.load(fresh.device);
  engine.run(0);
  const std::string brackets(100'000, '['), objects = [] {
    std::string t;
    for (int i = 0; i < 50'000; ++i) t += "{\"a\":";
    return t;
  }();
  OptionFlags flags;
  for (const std::string& text : {brackets, objects, brackets + std::string(100'000, ']')})
    EXPECT_THROW(readJSON(StringRef(text), flags), parse_error);
  Directory d;
  EXPECT_THROW(pva::openReport(d.file("deep.json", brackets)), parse_error);
}

TEST(Misuse, SerialisedTensors) {
  Setting s;
  const Tensor x = s.variable(FLOAT, {4}, "x", 3);
  std::ostringstream out;
  s.graph.serializeTensors(out, {x});
  const std::string bytes = out.str();
  const auto read = [&](const std::string& text) {
    std::istringstream in(text);
    return s.graph.deserializeTensors(in);
  };
  EXPECT_EQ(read(bytes)[0].shape(), x.shape());
  for (std::size_t at = 0; at < bytes.size(); ++at)
    for (const unsigned char change : {0x01, 0x10, 0x80, 0xff}) {
      std::string broken = bytes;
      broken[at] = static_cast<char>(broken[at] ^ change);
      try {
        read(broken);
      } catch (const poplar_error&) {}
      EXPECT_THROW(read(bytes.substr(0, at)), poplar_error);
    }
  std::string far = bytes;  // the tile, of the triple at the end
  far[bytes.size() - 20] = 1;
  EXPECT_THROW(read(far), invalid_tile_mapping);
}

TEST(Misuse, Environments) {
  Directory d;
  const std::string source =
      "#include <poplar/Vertex.hpp>\nclass Tiny : public poplar::Vertex {\n public:\n  poplar::InOut<int> x;\n  void compute() { *x = 1; "
      "}\n};\n//" +
      d / "";
  const auto compile = [&](const std::string& more) {
    Setting s;
    std::stringstream text(source + more);
    s.graph.addCodelets(text);
  };
  {
    const Environment tmp("TMPDIR", d / "none");
    EXPECT_THROW(compile("a"), no_environment);
  }
  {
    const auto before = std::signal(SIGCHLD, SIG_IGN);
    try {
      compile("b");
      ADD_FAILURE() << "the compiler's end was seen";
    } catch (const no_environment& e) { EXPECT_NE(std::string(e.what()).find("SIGCHLD"), std::string::npos) << e.what(); }
    std::signal(SIGCHLD, before);
  }
  {
    const Environment threads("PANDO_THREADS", "abc");
    Setting s;
    EXPECT_THROW(s.loaded(), invalid_option);
  }
  // Without a cache, or with one that cannot be written, codelets are compiled all the same.
  const std::string taken = d.file("taken", "a file where a folder is meant");
  for (const std::string& folder : {taken, taken + "/below", std::string("/proc/none")}) {
    const Environment cache("POPLAR_EXECUTABLE_CACHE_DIR", folder);
    testing::internal::CaptureStderr();
    EXPECT_NO_THROW(compile("c"));
    EXPECT_NO_THROW(compile("d"));
    testing::internal::GetCapturedStderr();
  }
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(d / ""), {}), 1);
}

TEST(Misuse, ReportsAreWrittenWhereTheyAreAskedFor) {
  Directory d;
  Setting s;
  const Tensor a = s.variable(FLOAT, {1 << 20}, "a"), b = s.variable(FLOAT, {1 << 20}, "b");
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(d / "");
  try {
    Engine(s.graph, Copy(a, b));
    ADD_FAILURE() << "8 MiB fit a tile";
  } catch (const graph_memory_allocation_error& e) { EXPECT_EQ(e.profilePath, ""); }
  EXPECT_TRUE(std::filesystem::is_empty(d / ""));
  try {
    Engine(s.graph, Copy(a, b), {{"autoReport.outputGraphProfile", "true"}});
    ADD_FAILURE() << "8 MiB fit a tile";
  } catch (const graph_memory_allocation_error& e) {
    EXPECT_TRUE(std::filesystem::exists(e.profilePath));
    EXPECT_NE(std::string(e.what()).find("pando report " + e.profilePath), std::string::npos) << e.what();
  }
  std::filesystem::current_path(before);
}

}  // namespace
}  // namespace api
