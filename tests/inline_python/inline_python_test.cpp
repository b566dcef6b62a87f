// Python inside codelets, run on tiles.
#include "base/testing/places.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poplar/Engine.hpp>
#include <poplar/Graph.hpp>
#include <poplar/IPUModel.hpp>
#include <poplar/Program.hpp>
#include <poplar/exceptions.hpp>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>

namespace {

using namespace poplar;
using namespace poplar::program;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;

constexpr std::size_t kText = 4000;

std::string codelets() { return pando::source_path("tests/inline_python/codelets.cpp"); }

class InlinePython : public testing::Test {
 protected:
  explicit InlinePython(unsigned tiles = 4) : device(model(tiles)), graph(device), set(graph.addComputeSet("work")) {
    graph.addCodelets(codelets());
  }
  static Device model(unsigned tiles) {
    IPUModel m("ipu2");
    m.tilesPerIPU = tiles;
    return m.createDevice();
  }
  Tensor variable(const Type& type, std::vector<std::size_t> shape, const std::string& name, unsigned tile = 0) {
    const Tensor t = graph.addVariable(type, shape, name);
    graph.setTileMapping(t, tile);
    graph.createHostRead(name, t);
    return t;
  }
  Tensor text_on(unsigned tile, std::size_t size = kText) { return variable(CHAR, {size}, "text" + std::to_string(tile), tile); }
  // Of a program or data, with a zero at the end.
  Tensor constant(const std::string& text, unsigned tile = 0) {
    const Tensor t = graph.addVariable(CHAR, {text.size() + 1}, "constant");
    graph.setTileMapping(t, tile);
    graph.setInitialValue<char>(t, ArrayRef<char>(text.c_str(), text.size() + 1));
    return t;
  }
  void vertex(const char* type, ArrayRef<Graph::ConnectionDesc> fields, unsigned tile = 0) {
    graph.setTileMapping(graph.addVertex(set, type, fields), tile);
  }
  void run() { run(Execute(set)); }
  void run(const Program& program) {
    engine = std::make_unique<Engine>(graph, program);
    engine->load(device);
    engine->run();
  }
  template <class T>
  std::vector<T> read(const std::string& name, std::size_t n) {
    std::vector<T> out(n);
    engine->readTensor(name, out.data(), out.data() + n);
    return out;
  }
  std::string text_of(unsigned tile, std::size_t size = kText) { return read<char>("text" + std::to_string(tile), size).data(); }

  Device device;
  Graph graph;
  ComputeSet set;
  std::unique_ptr<Engine> engine;
};

TEST_F(InlinePython, SeesAndChangesOperands) {
  const Tensor i = variable(INT, {3}, "i"), f = variable(FLOAT, {2}, "f"), c = variable(SIGNED_CHAR, {2}, "c");
  graph.setInitialValue<int>(i, {1, -2, 3});
  graph.setInitialValue<float>(f, {0.5f, 0.25f});
  graph.setInitialValue<signed char>(c, ArrayRef<signed char>({7, 0}));
  vertex("Operands", {{"i", i}, {"f", f}, {"c", c}, {"text", text_on(0)}});
  run();
  EXPECT_THAT(read<int>("i", 3), ElementsAre(2, -4, 6));
  EXPECT_THAT(read<signed char>("c", 2), ElementsAre(7, -7));
  EXPECT_EQ(text_of(0), "sum 0.75 and \"quotes\" \\ \n");
}

TEST_F(InlinePython, OutputEndsWithItsBuffer) {
  const Tensor program = constant("print('x' * 100)");
  vertex("Runs", {{"program", program}, {"data", constant("")}, {"text", text_on(0, 10)}});
  run();
  EXPECT_EQ(text_of(0, 10), "xxxxxxxxx");
}

TEST_F(InlinePython, ExceptionsSayTheLine) {
  const Tensor x = variable(INT, {2}, "x");
  vertex("Fails", {{"x", x}, {"text", text_on(0)}});
  run();
  EXPECT_EQ(text_of(0),
            "cannot grow\nTraceback (most recent call last):\n  File \"<stdin>\", line 8, in <module>\n"
            "  File \"<stdin>\", line 7, in f\nValueError: three lines down\n");
}

TEST_F(InlinePython, AnInterpreterThatEndsSaysWhyAndEndsAlone) {
  vertex("Ends", {{"program", constant("import uctypes\nuctypes.bytearray_at(0x7fffff00, 16)[0] = 1")}, {"text", text_on(0)}});
  vertex("Ends", {{"program", constant("print(1)", 1)}, {"text", text_on(1)}}, 1);
  run();
  EXPECT_EQ(text_of(0), "this tile's interpreter has ended: an access outside the tile's memory\n");
  EXPECT_EQ(text_of(1), "1\nalive\n");
}

TEST_F(InlinePython, TheOtherFunctions) {
  const Tensor calls = variable(INT, {}, "calls");
  vertex("Calls", {{"data", constant("tile's own")}, {"text", text_on(0)}, {"calls", calls}});
  run();
  EXPECT_THAT(read<int>("calls", 1), ElementsAre(4));
  EXPECT_EQ(text_of(0), "answer\r\n'typed'\n>>> \r\n");
}

TEST_F(InlinePython, MisuseEndsTheRun) {
  const char* const messages[] = {"tile 0: libIPUpy: 'elsewhere' does not lie in the tile's memory",
                                  "tile 0: libIPUpy: at most 16 relocatable arrays", "tile 0: libIPUpy: a program waits at longyield"};
  const Tensor text = text_on(0, 100);
  for (int kind = 0; kind < 3; ++kind) {
    const ComputeSet one = graph.addComputeSet("misuse" + std::to_string(kind));
    graph.setTileMapping(graph.addVertex(one, "Misuses", {{"kind", kind}, {"text", text}}), 0);
    try {
      run(Execute(one));
      ADD_FAILURE() << kind;
    } catch (const application_runtime_error& e) { EXPECT_THAT(e.what(), HasSubstr(messages[kind])); }
  }
}

class Collective : public InlinePython {
 protected:
  Collective() : InlinePython(kTiles) {}
  static constexpr unsigned kTiles = 16;
};

// Below sorted(key=...), with collections of garbage; every tile must see every tile's value in each round.
TEST_F(Collective, LongYieldLetsTheProgramExchange) {
  const Tensor in = graph.addVariable(UNSIGNED_CHAR, {kTiles, kTiles}, "in"), out = graph.addVariable(UNSIGNED_CHAR, {kTiles}, "out");
  const Tensor done = graph.addVariable(BOOL, {kTiles}, "done"), number = graph.addVariable(INT, {kTiles}, "number");
  const ComputeSet begin = graph.addComputeSet("begin");
  std::vector<int> numbers;
  for (unsigned t = 0; t < kTiles; ++t) {
    numbers.push_back(static_cast<int>(t));
    for (const Tensor& x : {in[t], out[t], done[t], number[t]}) graph.setTileMapping(x, t);
    const Tensor text = text_on(t, 200);
    graph.setTileMapping(
        graph.addVertex(begin, "Begin", {{"text", text}, {"number", number[t]}, {"tiles", static_cast<int>(kTiles)}, {"done", done[t]}}),
        t);
    vertex("Round", {{"in", in[t]}, {"out", out.slice(t, t + 1)}, {"text", text}, {"done", done[t]}}, t);
  }
  graph.setInitialValue<int>(number, numbers);
  run(Sequence(Execute(begin), RepeatWhileFalse(Execute(set), done[0], Copy(out.broadcast(kTiles, 0), in.flatten()))));
  std::string expected;
  for (unsigned t = 0; t < kTiles; ++t) {
    const std::string text = text_of(t, 200);
    EXPECT_THAT(text, EndsWith(" 180\n")) << t;  // after as many rounds as MicroPython's sort calls its key
    EXPECT_THAT(text, testing::Not(HasSubstr("wrong"))) << t;
    if (t == 0) expected = text;
    EXPECT_EQ(text, expected) << t;
  }
}

// The preprocessor itself, on a tile.
TEST_F(InlinePython, ExpandsItselfOnATile) {
  std::ostringstream preprocessor, source, expected;
  preprocessor << std::ifstream(pando::source_path("src/ontile/ipupyc/ipupyc.py")).rdbuf();
  source << std::ifstream(codelets()).rdbuf();
  const char* const popc_file = std::getenv("PANDO_POPC");
  if (!popc_file) GTEST_SKIP() << "PANDO_POPC does not say where popc is";
  const std::string command = popc_file + (" --expand-python " + codelets());
  FILE* popc = popen(command.c_str(), "r");
  ASSERT_NE(popc, nullptr);
  std::array<char, 4096> block;
  for (std::size_t n = 0; (n = fread(block.data(), 1, block.size(), popc)) > 0;)
    expected.write(block.data(), static_cast<std::streamsize>(n));
  ASSERT_EQ(pclose(popc), 0);
  const std::string call = "\nprint(HEADER, end='')\nfor line in expanded_lines(data[:-1]): print(line)\n";
  vertex("Runs", {{"program", constant(preprocessor.str() + call)}, {"data", constant(source.str())}, {"text", text_on(0, 30000)}});
  run();
  EXPECT_EQ(text_of(0, 30000), expected.str() + "\n");
}

}  // namespace
