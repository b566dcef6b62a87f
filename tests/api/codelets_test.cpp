// Ways to give codelets to a graph.
#ifdef __POPC__

#include <poplar/Vertex.hpp>

class OfThisFile : public poplar::Vertex {
 public:
  poplar::Output<int> out;
  void compute() { *out = 1; }
};

#else

#include <gtest/gtest.h>
#include <poplar/exceptions.hpp>

#include <cstdlib>

#include "setting.h"

namespace api {
namespace {

using namespace poplar;
using namespace poplar::program;

std::string codelet(const std::string& name, const std::string& value, const std::string& before = "") {
  return "#include <poplar/Vertex.hpp>\n" + before + "class " + name +
         " : public poplar::Vertex {\n public:\n  poplar::Output<int> out;\n  void compute() { *out = " + value + "; }\n};\n";
}

// Runs one vertex of the type and returns what it wrote.
int run(Setting& s, const char* type) {
  const Tensor out = s.variable(INT, {}, "out");
  s.graph.setTileMapping(s.graph.addVertex(s.set, type, {{"out", out}}), 0);
  s.graph.createHostRead("out", out);
  s.program.add(Execute(s.set));
  Engine engine = s.loaded();
  engine.run();
  int value = 0;
  engine.readTensor("out", &value, &value + 1);
  return value;
}

TEST(Codelets, OfAFile) {
  Directory d;
  Setting s;
  EXPECT_TRUE(s.graph.addCodelets(d.file("two.cpp", codelet("Two", "2"))));
  EXPECT_FALSE(s.graph.addCodelets(d / "two.cpp"));
  EXPECT_TRUE(s.graph.hasCodelet("Two"));
  EXPECT_FALSE(s.graph.hasCodelet("Three"));
  EXPECT_EQ(run(s, "Two"), 2);
}

TEST(Codelets, OfTheHostsFile) {
  Setting s;
  s.graph.addCodelets(__FILE__);
  EXPECT_EQ(run(s, "OfThisFile"), 1);
}

TEST(Codelets, OfSeveralFilesCAndCpp) {
  Directory d;
  Setting s;
  const std::string a = d.file("three.cpp", codelet("Three", "three()", "extern \"C\" int three(void);\n"));
  const std::string b = d.file("three.c", "int three(void) { int class = 3; return class; }\n");  // no C++
  s.graph.addCodelets({a, b});
  EXPECT_EQ(run(s, "Three"), 3);
}

TEST(Codelets, OfSeveralCallsThatReferToEachOther) {
  Directory d;
  Setting s;
  s.graph.addCodelets(d.file("user.cpp", codelet("Four", "four()", "int four();\n")));
  s.graph.addCodelets(d.file("four.cpp", "int four() { return 4; }\n"));
  EXPECT_EQ(run(s, "Four"), 4);
}

TEST(Codelets, OfATextWithFlags) {
  Setting s;
  std::stringstream text(codelet("Five", "VALUE"));
  s.graph.addCodelets(text, "-DVALUE=5 -O1");
  EXPECT_EQ(run(s, "Five"), 5);
}

TEST(Codelets, OfAnObjectMadeByPopc) {
  const char* popc = std::getenv("PANDO_POPC");
  if (!popc) GTEST_SKIP() << "PANDO_POPC does not say where popc is";
  Directory d;
  const std::string call = std::string(popc) + " " + d.file("six.cpp", codelet("Six", "6")) + " -o " + (d / "six.gp");
  ASSERT_EQ(std::system(call.c_str()), 0) << call;
  Environment none("PANDO_POPC", "/bin/false");
  Setting s;
  s.graph.addCodelets(d / "six.gp");
  EXPECT_EQ(run(s, "Six"), 6);
}

TEST(Codelets, CompiledOnce) {
  Directory d;
  Environment cache("POPLAR_EXECUTABLE_CACHE_DIR", d / "cache");
  const std::string header = d.file("value.h", "#define VALUE 7\n"),
                    source = d.file("seven.cpp", codelet("Seven", "VALUE", "#include \"value.h\"\n"));
  {
    Setting s;
    s.graph.addCodelets(source);
    EXPECT_EQ(run(s, "Seven"), 7);
  }
  Environment none("PANDO_POPC", "/bin/false");
  {
    Setting s;
    s.graph.addCodelets(source);
    EXPECT_EQ(run(s, "Seven"), 7);
  }
  d.file("value.h", "#define VALUE 8\n");  // the cache is by content, of headers too
  Setting s;
  EXPECT_THROW(s.graph.addCodelets(source), poplar_error);
}

}  // namespace
}  // namespace api

#endif
