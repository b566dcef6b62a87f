// Checked codelets: an access beyond a field ends the run with an error that says which; what stays inside runs as it does unchecked.
#include <gtest/gtest.h>
#include <poplar/exceptions.hpp>

#include "setting.h"

namespace api {
namespace {

using namespace poplar;
using namespace poplar::program;

constexpr unsigned kSize = 5;

struct Checked : Setting {
  explicit Checked(int how, const char* type = "Beyond", const std::string& flags = "--checked") {
    graph.addCodelets(codelet_file("unchecked.cpp"), CodeletFileType::Auto, flags);
    const Tensor in = graph.addVariable(FLOAT, {kSize}, "in"), out = graph.addVariable(FLOAT, {kSize}, "out"),
                 one = graph.addVariable(FLOAT, {}, "one"), rows = graph.addVariable(INT, {3, 4}, "rows");
    for (const Tensor& t : {in, out, one, rows}) graph.setTileMapping(t, 2);
    const VertexRef v = graph.addVertex(set, type, {{"in", in}, {"out", out}});
    graph.connect(v["rows"], rows);
    if (type == std::string("Beyond")) {
      graph.connect(v["one"], one);
      graph.setInitialValue(v["how"], how);
      const unsigned list[] = {1, 2, 3};
      graph.setInitialValue(v["list"], ArrayRef<unsigned>(list, 3));
    }
    graph.setTileMapping(v, 2);
    graph.createHostWrite("in", in);
    graph.createHostRead("out", out);
    graph.createHostWrite("rows", rows);
    program.add(Execute(set));
  }

  // What a run ends with; "": it does not fail.
  std::string message(const OptionFlags& options = {}) {
    Engine e(graph, program, options);
    e.load(device);
    std::vector<float> in{1, 2, 3, 4, 5};
    std::vector<int> rows{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    e.writeTensor("in", in.data(), in.data() + in.size());
    e.writeTensor("rows", rows.data(), rows.data() + rows.size());
    try {
      e.run();
    } catch (const application_runtime_error& error) { return error.what(); }
    result.resize(kSize);
    e.readTensor("out", result.data(), result.data() + result.size());
    return "";
  }
  std::vector<float> result;
};

void expect_parts(const std::string& text, const std::vector<std::string>& parts) {
  for (const std::string& part : parts) EXPECT_NE(text.find(part), std::string::npos) << "no '" << part << "' in: " << text;
}

TEST(CheckedCodelets, NameFieldElementTileAndLine) {
  const std::string place = " on tile 2, in compute set 'work' (step c0)";
  expect_parts(Checked(1).message(), {"it wrote element 5 of field 'out', which has 5, at ", "unchecked.cpp:19", "(Beyond)" + place});
  expect_parts(Checked(2).message(), {"it read element 7 of field 'in', which has 5", "unchecked.cpp:20"});
  expect_parts(Checked(3).message(), {"it wrote element 1 of field 'one', which has 1", "unchecked.cpp:21"});
  expect_parts(Checked(4).message(), {"it read element 5 of row 1 of field 'rows', which has 4", "unchecked.cpp:22"});
  expect_parts(Checked(5).message(), {"it read row 3 of field 'rows', which has 3", "unchecked.cpp:23"});
  expect_parts(Checked(6).message(), {"it read element 7 of field 'list', which has 3", "unchecked.cpp:24"});
  expect_parts(Checked(7).message(), {"it used element 5 of an array of type 'const unsigned int[4]'", "unchecked.cpp:25"});
  expect_parts(Checked(8).message(), {"it wrote element -1 of field 'in', which has 5"});
  expect_parts(Checked(9).message(), {"it wrote element ", "of field 'out', which has 5"});
  expect_parts(Checked(10).message(), {"it wrote element 5 of field 'out', which has 5"});
}

TEST(CheckedCodelets, WhatStaysInsideRuns) {
  EXPECT_EQ(Checked(0).message(), "");
  Checked inside(0, "Inside");
  EXPECT_EQ(inside.message(), "");
  EXPECT_EQ(inside.result, (std::vector<float>{5 + 78, 4, 3, 2, 1}));
}

// An engine compiles them again, also of .gp files; graph and other engines keep theirs.
TEST(CheckedCodelets, AreAnOptionOfAnEngine) {
  Checked c(1, "Beyond", "-g");
  const OptionFlags on{{"pando.checked", "true"}};
  expect_parts(c.message(on), {"it wrote element 5 of field 'out', which has 5, at ", "unchecked.cpp:19"});
  Checked without(2, "Beyond", "");
  expect_parts(without.message(on), {"it read element 7 of field 'in', which has 5 [checked-access] (left vertex 0 (Beyond) on tile 2"});
  EXPECT_EQ(without.message(), "");
}

// As programs that cannot be changed: the environment says it, and sources are compiled with lines.
TEST(CheckedCodelets, AreAnOptionOfTheEnvironment) {
  const Environment on("POPLAR_ENGINE_OPTIONS", R"({"pando.checked": "true"})");
  expect_parts(Checked(1, "Beyond", "").message(), {"it wrote element 5 of field 'out', which has 5, at ", "unchecked.cpp:19"});
}

}  // namespace
}  // namespace api
