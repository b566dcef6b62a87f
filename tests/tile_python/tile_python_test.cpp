// Vertices that let Python work on their operands.
#include "base/testing/places.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poplar/Engine.hpp>
#include <poplar/Graph.hpp>
#include <poplar/IPUModel.hpp>
#include <poplar/Program.hpp>
#include <poplar/exceptions.hpp>

namespace {

using namespace poplar;
using namespace poplar::program;
using testing::ElementsAre;
using testing::HasSubstr;

class TilePython : public testing::Test {
 protected:
  TilePython() : device(model()), graph(device) {
    graph.addCodelets(pando::source_path("tests/tile_python/codelets.cpp"), CodeletFileType::Auto,
                      "-lpando_python -L" + pando::build_path("lib"));
  }
  static Device model() {
    IPUModel m("ipu2");
    m.tilesPerIPU = 4;
    return m.createDevice();
  }
  template <class T>
  Tensor variable(const Type& type, const std::vector<T>& values, const std::string& name, unsigned tile = 0) {
    const Tensor t = graph.addVariable(type, {values.size()}, name);
    graph.setTileMapping(t, tile);
    graph.setInitialValue(t, ArrayRef<T>(values));
    graph.createHostRead(name, t);
    return t;
  }
  Tensor text(const std::string& value, const std::string& name, unsigned tile = 0) {
    return variable(CHAR, std::vector<char>(value.c_str(), value.c_str() + value.size() + 1), name, tile);
  }
  Tensor room(const std::string& name, unsigned tile = 0) { return variable(CHAR, std::vector<char>(600), name, tile); }
  Program vertex(const char* type, ArrayRef<Graph::ConnectionDesc> fields, unsigned tile = 0) {
    const ComputeSet set = graph.addComputeSet(type);
    graph.setTileMapping(graph.addVertex(set, type, fields), tile);
    return Execute(set);
  }
  void run(const Program& program, const OptionFlags& options = {}) {
    engine = std::make_unique<Engine>(graph, program, options);
    engine->load(device);
    engine->run();
  }
  template <class T>
  std::vector<T> read(const std::string& name, std::size_t n) {
    std::vector<T> out(n);
    engine->readTensor(name, out.data(), out.data() + n);
    return out;
  }
  std::string said(const std::string& name) { return read<char>(name, 600).data(); }
  std::string error(const Program& program) {
    try {
      run(program);
    } catch (const poplar_error& e) { return e.what(); }
    return "no error";
  }
  // Runs Python on tile 0; what it printed, and whether it came to its end.
  std::string try_run(const std::string& program, bool* good) {
    const Tensor flag = variable(BOOL, std::vector<char>{0}, "good");
    run(vertex(
        "RunsProgram",
        {{"in", variable<int>(INT, {1, 2, 3}, "in")}, {"program", text(program, "program")}, {"text", room("text")}, {"good", flag[0]}}));
    *good = read<char>("good", 1)[0];
    return said("text");
  }

  Device device;
  Graph graph;
  std::unique_ptr<Engine> engine;
};

TEST_F(TilePython, WorksOnOperandsInPlace) {
  const Tensor x = variable<float>(FLOAT, {0.5f, -3, 8}, "x"), y = variable<float>(FLOAT, {0, 0, 0}, "y");
  run(vertex("Twice", {{"x", x}, {"y", y}, {"text", room("text")}}));
  EXPECT_THAT(read<float>("y", 3), ElementsAre(1, -6, 16));
  EXPECT_EQ(said("text"), "3 elements\n");
}

TEST_F(TilePython, EachTileHasItsOwn) {
  const ComputeSet set = graph.addComputeSet("work");
  for (unsigned tile = 0; tile < 4; ++tile) {
    const std::string n = std::to_string(tile);
    const Tensor x = variable<float>(FLOAT, std::vector<float>(tile + 1, static_cast<float>(tile)), "x" + n, tile);
    const Tensor y = variable<float>(FLOAT, std::vector<float>(tile + 1), "y" + n, tile);
    graph.setTileMapping(graph.addVertex(set, "Twice", {{"x", x}, {"y", y}, {"text", room("text" + n, tile)}}), tile);
  }
  run(Execute(set));
  EXPECT_THAT(read<float>("y3", 4), ElementsAre(6, 6, 6, 6));
  EXPECT_EQ(said("text2"), "3 elements\n");
}

// Two compute sets give the same vertex different tensors: Python's view is the same, and sees the new place.
TEST_F(TilePython, AViewIsRebound) {
  const Tensor a = variable<int>(INT, {1, 2}, "a"), b = variable<int>(INT, {5, 6, 7}, "b");
  run(Sequence{vertex("KeepsView", {{"numbers", a}}), vertex("KeepsView", {{"numbers", b}}),
               vertex("KeepsView", {{"numbers", a.slice(1, 2)}})});
  EXPECT_THAT(read<int>("a", 2), ElementsAre(201, 302));
  EXPECT_THAT(read<int>("b", 3), ElementsAre(305, 306, 307));
}

TEST_F(TilePython, ViewsAreEmptyWhenTheirVertexHasEnded) {
  const Tensor good = variable(BOOL, std::vector<char>{0}, "good");
  run(Sequence{vertex("KeepsView", {{"numbers", variable<int>(INT, {1, 2}, "a")}}),
               vertex("RunsProgram", {{"in", variable<int>(INT, {4}, "in")},
                                      {"program", text("print(len(box[0]), len(x))", "program")},
                                      {"text", room("text")},
                                      {"good", good[0]}})});
  EXPECT_EQ(said("text"), "0 1\n");
}

template <class T>
std::vector<T> added(std::vector<T> x) {
  return {x[1], static_cast<T>(x[1] + 1)};
}

TEST_F(TilePython, TypesOfElements) {
  Sequence all;
  const auto add = [&](const char* type, const Tensor& t) { all.add(vertex((std::string("AddsOne<") + type + ">").c_str(), {{"x", t}})); };
  add("float", variable<float>(FLOAT, {1, 2.5f}, "float"));
  add("int", variable<int>(INT, {1, -70000}, "int"));
  add("unsigned int", variable<unsigned>(UNSIGNED_INT, {1, 4000000000u}, "unsigned"));
  add("short", variable<short>(SHORT, {1, -30000}, "short"));
  add("unsigned short", variable<unsigned short>(UNSIGNED_SHORT, {1, 60000}, "unsigned short"));
  add("char", variable<char>(CHAR, {1, -7}, "char"));
  add("signed char", variable<signed char>(SIGNED_CHAR, {1, -8}, "signed char"));
  add("unsigned char", variable<unsigned char>(UNSIGNED_CHAR, {1, 200}, "unsigned char"));
  add("long long", variable<long long>(LONGLONG, {1, -(1ll << 40)}, "long long"));
  const Tensor h = graph.addVariable(HALF, {2}, "half"), f = graph.addVariable(FLOAT, {2}, "as float");
  graph.setTileMapping(h, 0);
  graph.setInitialValue<float>(h, {1.0f, 0.375f});
  graph.createHostRead("half", h);
  add("half", h);
  run(all);
  EXPECT_THAT(read<float>("float", 2), ElementsAre(2.5f, 3.5f));
  EXPECT_THAT(read<int>("int", 2), ElementsAre(-70000, -69999));
  EXPECT_THAT(read<unsigned>("unsigned", 2), ElementsAre(4000000000u, 4000000001u));
  EXPECT_THAT(read<short>("short", 2), ElementsAre(-30000, -29999));
  EXPECT_THAT(read<unsigned short>("unsigned short", 2), ElementsAre(60000, 60001));
  EXPECT_THAT(read<char>("char", 2), ElementsAre(-7, -6));
  EXPECT_THAT(read<signed char>("signed char", 2), ElementsAre(-8, -7));
  EXPECT_THAT(read<unsigned char>("unsigned char", 2), ElementsAre(200, 201));
  EXPECT_THAT(read<long long>("long long", 2), ElementsAre(-(1ll << 40), 1 - (1ll << 40)));
  EXPECT_THAT(read<unsigned short>("half", 2), ElementsAre(0x3600, 0x3d80));  // 0.375, 1.375
}

TEST_F(TilePython, ScalarsAreViewsOfOneElement) {
  const Tensor a = variable<float>(FLOAT, {41.5f}, "a"), sum = variable<int>(INT, {0}, "sum"),
               flag = variable(BOOL, std::vector<char>{0}, "flag");
  run(vertex("Scalars", {{"a", a[0]}, {"sum", sum[0]}, {"flag", flag[0]}}));
  EXPECT_EQ(read<int>("sum", 1)[0], 42);
  EXPECT_EQ(read<char>("flag", 1)[0], 1);
}

TEST_F(TilePython, ExceptionsCanBeSeen) {
  bool good = true;
  EXPECT_THAT(try_run("print(sum(x))\nx[1] = 5", &good), testing::AllOf(testing::StartsWith("6\nTraceback"), HasSubstr("TypeError")));
  EXPECT_FALSE(good);
}

TEST_F(TilePython, TextIsCutAtItsRoom) {
  bool good = false;
  EXPECT_EQ(try_run("print('x' * 2000)", &good), std::string(599, 'x'));
  EXPECT_TRUE(good);
}

TEST_F(TilePython, ExceptionsEndTheRun) {
  EXPECT_THAT(error(vertex("MustRun", {{"program", text("def f(): return 1 // 0\nf()", "program", 2)}}, 2)),
              testing::AllOf(HasSubstr("tile 2"), HasSubstr("in f"), HasSubstr("ZeroDivisionError")));
}

TEST_F(TilePython, InterpretersThatEndEndTheRun) {
  EXPECT_THAT(error(vertex("MustRun", {{"program", text("import uctypes\nuctypes.bytearray_at(1 << 30, 4)[0]", "program")}})),
              HasSubstr("this tile's interpreter has ended: an access outside the tile's memory"));
}

// An operand that could be read on another tile comes to this one's memory.
TEST_F(TilePython, InputsOfOtherTiles) {
  const Tensor x = variable<float>(FLOAT, {0.5f, -3, 8}, "x", 1), y = variable<float>(FLOAT, {0, 0, 0}, "y"),
               y1 = variable<float>(FLOAT, {0, 0, 0}, "y1", 1);
  run(Sequence{vertex("Twice", {{"x", x}, {"y", y1}, {"text", room("text1", 1)}}, 1),
               vertex("Twice", {{"x", x}, {"y", y}, {"text", room("text")}})});
  EXPECT_THAT(read<float>("y", 3), ElementsAre(1, -6, 16));
}

TEST_F(TilePython, OtherMemoryIsRejected) {
  EXPECT_THAT(error(vertex("Elsewhere", {{"x", variable<int>(INT, {1}, "x")[0]}})), HasSubstr("'x' is not in this tile's memory"));
}

}  // namespace
