// Looking closer: a run that stops where a tensor changes, prints with the name of who prints, breakpoints before vertices.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poplar/exceptions.hpp>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "setting.h"

namespace api {
namespace {

using namespace poplar;
using namespace poplar::program;
using ::testing::HasSubstr;

// y = 3 x, each round of three, and z a copy of y on another tile; then v = 0 / 0 where x is 2.
struct Watched : Setting {
  Watched() {
    graph.addCodelets(codelet_file("scale.cpp"));
    graph.addCodelets(codelet_file("closer.cpp"));
    const Tensor x = variable(FLOAT, {4}, "layer/x", 1), y = variable(FLOAT, {4}, "layer/y", 1), z = variable(FLOAT, {4}, "z", 2),
                 v = variable(FLOAT, {4}, "v", 3), n = variable(INT, {4}, "n", 3);
    scale(x, y, 3, 1);
    const ComputeSet divide = graph.addComputeSet("divide");
    const VertexRef d = graph.addVertex(divide, "Divide", {{"x", x}, {"y", v}, {"limit", 2.0f}});
    graph.setTileMapping(d, 3);
    const DataStream in = graph.addHostToDeviceFIFO("in", FLOAT, 4);
    const ComputeSet beside = graph.addComputeSet("beside");
    const VertexRef b = graph.addVertex(beside, "Beside", {{"x", z}, {"y", v[0]}});
    graph.setTileMapping(b, 2);
    const Sequence round{Copy(in, x), Execute(set), Copy(y, z), Execute(divide)};
    programs = {Repeat(3, round), Sequence{Execute(beside)}, Sequence{PrintTensor(n)}};
  }

  // What a run ends with; "": it does not fail.
  std::string message(const OptionFlags& options, unsigned program = 0) {
    Engine e(graph, programs, options);
    e.load(device);
    std::vector<float> blocks{0, 1, 3, 4, 0, 1, 3, 4, 0, 1, 2, 4};
    e.connectStream("in", blocks.data(), blocks.data() + blocks.size());
    std::ostringstream printed;
    e.setPrintStream(printed);
    try {
      e.run(program);
    } catch (const application_runtime_error& error) { return error.what(); }
    return "";
  }
  std::vector<Program> programs;
};

TEST(LookingCloser, AWatchedTensorStopsTheRun) {
  Watched w;
  EXPECT_EQ(w.message({{"pando.watch", "y"}}),
            "element 1 of 'layer/y' on tile 1 changed from 0 to 3: field 'y' of vertex 0 (Scale) in compute set 'work' (step c0) wrote it; "
            "it was step 2 of stream 'ipu0.compute' in program 0 [watched-tensor]");
  EXPECT_THAT(w.message({{"pando.watch", "layer/x"}}),
              HasSubstr("element 1 of 'layer/x' on tile 1 changed from 0 to 1: stream 'in' wrote it"));
  EXPECT_THAT(w.message({{"pando.watch", "z"}}), testing::AllOf(HasSubstr("element 1 of 'z' on tile 2 changed from 0 to 3: exchange '"),
                                                                HasSubstr("copied it from tile 1 ('layer/y')")));
  // Several: the first of them.
  EXPECT_THAT(w.message({{"pando.watch", "z, v ,layer/y"}}), HasSubstr("element 1 of 'layer/y'"));
}

// The streams' blocks are alike twice: x changes in the first round and in the third.
TEST(LookingCloser, ChangesMayPass) {
  Watched w;
  EXPECT_THAT(w.message({{"pando.watch", "x"}, {"pando.watchSkip", "1"}}),
              HasSubstr("element 2 of 'layer/x' on tile 1 changed from 3 to 2"));
  EXPECT_EQ(w.message({{"pando.watch", "x"}, {"pando.watchSkip", "2"}}), "");
}

TEST(LookingCloser, OnlyNaNMayCount) {
  Watched w;
  EXPECT_THAT(w.message({{"pando.watch", "v"}, {"pando.watchNaN", "true"}}),
              testing::AllOf(HasSubstr("element 2 of 'v' on tile 3 changed from 1 to "), HasSubstr("nan: field 'y' of vertex 1 (Divide)")));
  EXPECT_EQ(w.message({{"pando.watch", "y"}, {"pando.watchNaN", "true"}}), "");
}

TEST(LookingCloser, AWriteBesideItsFieldsIsSaid) {
  EXPECT_THAT(
      Watched().message({{"pando.watch", "z"}}, 1),
      testing::AllOf(
          HasSubstr("element 1 of 'z' on tile 2 changed from 0 to 7: no vertex of compute set 'beside' (step c"),
          HasSubstr("has it as an output, so one wrote beyond its fields (pando.checked names it); on the tile ran vertex 2 (Beside)")));
}

TEST(LookingCloser, TheGraphStaysAsItWas) {
  Watched w;
  EXPECT_NE(w.message({{"pando.watch", "y"}}), "");
  EXPECT_EQ(w.message({}), "");
  Engine plain(w.graph, w.programs);
  plain.load(w.device);
  EXPECT_THROW(plain.readTensor("pando.watch/1/layer/y", nullptr, nullptr), stream_connection_error);
}

TEST(LookingCloser, RunsOnTheCpuToo) {
  Graph graph(Target::createCPUTarget());
  graph.addCodelets(codelet_file("scale.cpp"));
  const Tensor x = graph.addVariable(FLOAT, {2}, "x"), y = graph.addVariable(FLOAT, {2}, "y");
  graph.setTileMapping(x, 0);
  graph.setTileMapping(y, 0);
  graph.setInitialValue(x, ArrayRef<float>({1.0f, 2.0f}));
  const ComputeSet set = graph.addComputeSet("work");
  const VertexRef v = graph.addVertex(set, "Scale", {{"x", x}, {"y", y}, {"factor", 2.0f}});
  graph.setTileMapping(v, 0);
  Engine e(graph, Execute(set), {{"pando.watch", "y"}});
  e.load(Device::createCPUDevice());
  try {
    e.run();
    FAIL();
  } catch (const application_runtime_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("element 0 of 'y' on tile 0 changed from 0 to 2"));
  }
}

TEST(LookingCloser, BadWatchesAreRejected) {
  Watched w;
  const auto rejection = [&](const OptionFlags& options) {
    try {
      w.message(options);
    } catch (const invalid_option& error) { return std::string(error.what()); }
    return std::string("none");
  };
  EXPECT_THAT(rejection({{"pando.watch", "layer/xy"}}),
              HasSubstr("names 'layer/xy': the graph has no variable of that name that is mapped to tiles; did you mean 'layer/x'"));
  EXPECT_THAT(rejection({{"pando.watch", "ayer/x"}}), HasSubstr("names 'ayer/x'"));
  EXPECT_THAT(rejection({{"pando.watch", "x,,y"}}), HasSubstr("a name is empty"));
  EXPECT_THAT(rejection({{"pando.watch", ""}}), HasSubstr("a name is empty"));
  EXPECT_THAT(rejection({{"pando.watch", "n"}, {"pando.watchNaN", "true"}}), HasSubstr("'n' is of type int, which has no NaN"));
  EXPECT_THAT(rejection({{"pando.watchNaN", "maybe"}}), HasSubstr("expected true or false"));
  for (const char* value : {"few", "-1", "1.5", "nan", "inf", "1e10", ""})
    EXPECT_THAT(
        rejection({{"pando.watch", "y"}, {"pando.watchSkip", value}}),
        HasSubstr("option 'pando.watchSkip' has the value '" + std::string(value) + "'; expected a whole number from 0 to 4294967295"));
  for (const char* option : {"pando.watchNaN", "pando.watchSkip"})
    EXPECT_THAT(rejection({{option, "1"}}), HasSubstr("option '" + std::string(option) + "' has the value '1', and no tensor is watched"));
  Executable compiled = compileGraph(w.graph, w.programs);
  Engine e(std::move(compiled), {{"pando.watch", "y"}});
  EXPECT_THROW(e.load(w.device), invalid_option);
}

// --- prints

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::string printed_by(const OptionFlags& options, const char* type = "Says", unsigned vertices = 8) {
  Setting s;
  s.graph.addCodelets(codelet_file("closer.cpp"));
  const Tensor x = s.graph.addVariable(INT, {vertices, 1}, "x");
  for (unsigned i = 0; i < vertices; ++i) {
    s.graph.setTileMapping(x[i], i % 2);
    const int value[] = {static_cast<int>(i)};
    s.graph.setInitialValue(x[i], ArrayRef<int>(value, 1));
    const VertexRef v = s.graph.addVertex(s.set, type, {{"x", x[i]}});
    s.graph.setTileMapping(v, i % 2);
  }
  Engine e(s.graph, Execute(s.set), options);
  e.load(s.device);
  testing::internal::CaptureStdout();
  e.run();
  return testing::internal::GetCapturedStdout();
}

TEST(LookingCloser, PrintedLinesHaveTags) {
  for (const char* threads : {"1", "3"}) {
    std::vector<std::string> lines = lines_of(printed_by({{"pando.tagPrints", "true"}, {"pando.threads", threads}}));
    ASSERT_EQ(lines.size(), 24u);
    EXPECT_NE(std::find(lines.begin(), lines.end(), "[tile 1, worker 0, vertex 1 (Says), compute set 'work' (step c0)] x[0] = 1"),
              lines.end());
    EXPECT_NE(std::find(lines.begin(), lines.end(), "[tile 0, worker 3, vertex 6 (Says), compute set 'work' (step c0)] x[0] = 6"),
              lines.end());
    for (const std::string& line : lines) EXPECT_EQ(line.find("[tile "), 0u) << line;
  }
  const std::vector<std::string> one = lines_of(printed_by({{"pando.tagPrints", "true"}}, "Says", 1));
  const std::string tag = "[tile 0, worker 0, vertex 0 (Says), compute set 'work' (step c0)] ";
  EXPECT_EQ(one, (std::vector<std::string>{tag + "x[0] = 0", tag + "and more", tag + "!?"}));
  EXPECT_EQ(printed_by({{"pando.tagPrints", "true"}}, "SaysTogether", 1),
            "[tile 0, vertex 0 (SaysTogether), compute set 'work' (step c0)] worker 2\n");
}

TEST(LookingCloser, WithoutTheOptionLinesAreAsTheyArePrinted) {
  EXPECT_EQ(printed_by({}, "Says", 1), "x[0] = 0\nand more\n!?\n");
  EXPECT_EQ(printed_by({{"pando.tagPrints", "false"}}, "Says", 1), "x[0] = 0\nand more\n!?\n");
  EXPECT_THROW(printed_by({{"pando.tagPrints", "yes"}}), invalid_option);
}

// --- breakpoints

// For a debugger, too: tests/debugger.
TEST(LookingCloser, VerticesWithABreakGiveTheSameResults) {
  for (const char* at : {"tile=2", "vertex=5", "step=c0,tile=1", "codelet=Scale", "tile=3,vertex=0"}) {
    Setting s;
    s.graph.addCodelets(codelet_file("scale.cpp"), CodeletFileType::Auto, "-g");
    const Tensor x = s.graph.addVariable(FLOAT, {12, 5}, "x"), y = s.graph.addVariable(FLOAT, {12, 5}, "y");
    for (unsigned i = 0; i < 12; ++i) {
      s.graph.setTileMapping(x[i], i / 3);
      s.graph.setTileMapping(y[i], i / 3);
      s.scale(x[i], y[i], static_cast<float>(i), i / 3);
    }
    s.graph.createHostWrite("x", x);
    s.graph.createHostRead("y", y);
    Engine e(s.graph, Execute(s.set), {{"pando.break", at}});
    e.load(s.device);
    std::vector<float> values(60, 2), results(60);
    e.writeTensor("x", values.data(), values.data() + 60);
    e.run();
    e.readTensor("y", results.data(), results.data() + 60);
    for (unsigned i = 0; i < 60; ++i) EXPECT_EQ(results[i], 2 * static_cast<float>(i / 5)) << at << " " << i;
  }
}

TEST(LookingCloser, BadBreaksAreRejected) {
  const Setting s;
  const auto rejection = [&](const char* at) {
    try {
      Engine(s.graph, Sequence(), {{"pando.break", at}});
    } catch (const invalid_option& error) { return std::string(error.what()); }
    return std::string("none");
  };
  EXPECT_THAT(rejection(""), HasSubstr("'' has no '='"));
  EXPECT_THAT(rejection("tile"), HasSubstr("'tile' has no '='"));
  EXPECT_THAT(rejection("tile=x"), HasSubstr("'x' is no tile's number"));
  EXPECT_THAT(rejection("tile=-1"), HasSubstr("'-1' is no tile's number"));
  EXPECT_THAT(rejection("tile=99999999999"), HasSubstr("is no tile's number"));
  EXPECT_THAT(rejection("tile=1,tile=2"), HasSubstr("'tile' is there twice"));
  EXPECT_THAT(rejection("worker=1"), HasSubstr("'worker' is unknown; expected one or more of tile=N, vertex=N, step=cN and codelet=NAME"));
  EXPECT_THAT(rejection("codelet="), HasSubstr("the codelet has no name"));
  EXPECT_EQ(rejection("step=3, codelet=popops::Op<float,int>"), "none");
}

// What a program does not have is known when it is loaded.
TEST(LookingCloser, BreaksAtNothingAreSaid) {
  Watched w;
  const auto said = [&](const char* at) {
    Engine e(w.graph, w.programs, {{"pando.break", at}});
    testing::internal::CaptureStderr();
    std::string rejected;
    try {
      e.load(w.device);
    } catch (const invalid_option& error) { rejected = error.what(); }
    const std::string warned = testing::internal::GetCapturedStderr();
    return rejected.empty() ? warned : rejected;
  };
  const unsigned tiles = w.graph.getTarget().getNumTiles();
  EXPECT_THAT(said(("tile=" + std::to_string(tiles)).c_str()),
              HasSubstr("option 'pando.break' has the value 'tile=" + std::to_string(tiles) + "': the program has " +
                        std::to_string(tiles) + " tiles"));
  EXPECT_THAT(said("step=c3"), HasSubstr("'step=c3': the program has 3 compute steps"));
  EXPECT_THAT(said("tile=2,codelet=Divide"), HasSubstr("'tile=2,codelet=Divide': no vertex of the program is one; its codelets are "
                                                       "Beside, Divide, Scale"));
  EXPECT_THAT(said("vertex=1000"), HasSubstr("no vertex of the program is one"));
  EXPECT_EQ(said("tile=1,codelet=Scale"), "");
}

}  // namespace
}  // namespace api
