// Executables with codelets, run by another process that has no compiler.
#include <gtest/gtest.h>
#include <poplar/CycleCount.hpp>
#include <poplar/exceptions.hpp>

#include <cstdlib>
#include <fstream>
#include <iostream>

#include "setting.h"

namespace api {
namespace {

using namespace poplar;
using namespace poplar::program;

// The codelets have per-tile state, and two modules refer to each other; a built-in codelet is used too.
void write_executable(const std::string& path) {
  Setting s;
  s.add_codelets();
  std::stringstream user(
      "#include <poplar/Vertex.hpp>\nint next();\nclass Next : public poplar::Vertex {\n public:\n  poplar::Output<int> out;\n"
      "  void compute() { *out = next(); }\n};\n"),
      owner("static int count = 40;\nint next() { return ++count; }\n");
  s.graph.addCodelets(user);
  s.graph.addCodelets(owner);
  const Tensor v = s.variable(FLOAT, {4}, "v", 2), n = s.variable(INT, {}, "n", 3);
  s.graph.setInitialValue(v, ArrayRef<float>{1, 2, 3, 4});
  s.scale(v, v, 3, 1);
  s.graph.setTileMapping(s.graph.addVertex(s.set, "Next", {{"out", n}}), 3);
  s.graph.createHostRead("v", v);
  s.graph.createHostRead("n", n);
  Sequence counted{Execute(s.set)};
  cycleCount(s.graph, counted, 0);
  std::ofstream out(path, std::ios::binary);
  compileGraph(s.graph, {counted, Copy(v, v.reverse(0))}).serialize(out);
}

// Prints what it finds: the child's half of the test.
int run_executable(const char* path) {
  std::ifstream in(path, std::ios::binary);
  Engine engine(Executable::deserialize(in));
  engine.load(ipus());
  engine.run(0);
  engine.run(0);
  engine.run(1);
  float v[4];
  int n = 0;
  engine.readTensor("v", v, v + 4);
  engine.readTensor("n", &n, &n + 1);
  const bool right = v[0] == 36 && v[1] == 27 && v[2] == 18 && v[3] == 9 && n == 42;
  if (!right) std::cerr << v[0] << " " << v[1] << " " << v[2] << " " << v[3] << ", " << n << "\n";
  return right ? 0 : 1;
}

// Run by the test below in a process of its own.
TEST(Executables, DISABLED_Child) {
  const char* path = std::getenv("API_EXECUTABLE");
  ASSERT_NE(path, nullptr);
  EXPECT_EQ(run_executable(path), 0);
}

TEST(Executables, RunInAnotherProcessWithoutACompiler) {
  Directory d;
  write_executable(d / "program.pop");
  Environment none("PANDO_POPC", "/bin/false"), cache("POPLAR_EXECUTABLE_CACHE_DIR", d / "empty"),
      path("API_EXECUTABLE", d / "program.pop");
  const std::string self = testing::internal::GetArgvs().front();
  EXPECT_EQ(std::system((self + " --gtest_also_run_disabled_tests --gtest_filter=Executables.DISABLED_Child >/dev/null").c_str()), 0);
}

TEST(Executables, DumpedByTheTool) {
  const char* bin = std::getenv("PANDO_BIN");
  if (!bin) GTEST_SKIP() << "PANDO_BIN does not say where pando is";
  Directory d;
  write_executable(d / "program.pop");
  Environment none("PANDO_POPC", "/bin/false");
  const auto dump = [&](const std::string& arguments) {
    EXPECT_EQ(std::system((std::string(bin) + "/pando dump " + arguments + " >" + (d / "out.txt")).c_str()), 0) << arguments;
    std::ifstream in(d / "out.txt");
    return std::string{std::istreambuf_iterator<char>(in), {}};
  };
  const std::string all = dump("--level=tile " + (d / "program.pop")), one = dump("--level=tile --tile=3 " + (d / "program.pop"));
  for (const char* part : {"Scale", "Next", "work"}) EXPECT_NE(all.find(part), std::string::npos) << part << " is not in\n" << all;
  EXPECT_NE(one.find("Next"), std::string::npos) << one;
  EXPECT_LT(one.size(), all.size());
  Environment executable("API_EXECUTABLE", d / "second.pop");
  const std::string self =
      testing::internal::GetArgvs().front() + " --gtest_also_run_disabled_tests --gtest_filter=Executables.DISABLED_Compile";
  for (const char* level : {"graph", "plan", "tile"}) {
    const std::string text = dump(std::string("--level=") + level + " -o " + (d / "dump.txt") + " -- " + self);
    std::ifstream in(d / "dump.txt");
    const std::string dumped{std::istreambuf_iterator<char>(in), {}};
    EXPECT_NE(dumped.find("Scale"), std::string::npos) << level << "\n" << dumped;
  }
}

TEST(Executables, DISABLED_Compile) {
  const char* path = std::getenv("API_EXECUTABLE");
  ASSERT_NE(path, nullptr);
  write_executable(path);
}

}  // namespace
}  // namespace api
