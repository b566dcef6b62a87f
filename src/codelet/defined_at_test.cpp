// Where codelets are defined: classes, templates, headers, texts, labels of assembly; files of earlier versions do not say it.
#include "codelet/defined_at.h"

#include "codelet/library_test.h"
#include "codelet/store/code_lines.h"

namespace pando {
namespace {

class DefinedAtTest : public LibraryTest {
 protected:
  static std::string place_of(const Library& library, const std::string& vertex) {
    const std::optional<DefinedAt> at = defined_at(library, library.id_of(vertex));
    return at ? fs::path(at->file).filename().string() + ":" + std::to_string(at->line) : "unknown";
  }
};

constexpr const char* kHead = "#include <poplar/Vertex.hpp>\nusing namespace poplar;\n";

TEST_F(DefinedAtTest, AClassIsWhereItsNameIs) {
  write("shared.h", "\nstruct InHeader : poplar::Vertex {\n  poplar::InOut<float> x;\n  void compute() { *x = 1; }\n};\n");
  const std::string file = write("v.cpp", std::string(kHead) + R"code(#include "shared.h"
class Plain : public Vertex { public: InOut<float> x; void compute() { *x = 2; } };

template <class T>
class Several : public Vertex {
 public:
  InOut<T> x;
  void compute() { *x = 3; }
};
template class Several<float>;
template class Several<int>;
template <>
class Several<unsigned> : public Vertex { public: InOut<unsigned> x; void compute() { *x = 4; } };
namespace inner {
class [[poplar::constraint("elem(*x) != elem(*y)")]]
Apart : public Vertex { public: Input<Vector<float>> x; Output<Vector<float>> y; void compute() { y[0] = x[0]; } };
}
)code");
  for (const char* flags : {"", "-g", "--checked", "-O0"}) {
    Library library;
    library.compile({{file}, ""}, flags, nullptr);
    EXPECT_EQ(place_of(library, "InHeader"), "shared.h:2") << flags;
    EXPECT_EQ(place_of(library, "Plain"), "v.cpp:4") << flags;
    EXPECT_EQ(place_of(library, "Several<float>"), "v.cpp:7") << flags;
    EXPECT_EQ(place_of(library, "Several<int>"), "v.cpp:7") << flags;
    EXPECT_EQ(place_of(library, "Several<unsigned int>"), "v.cpp:15") << flags;
    EXPECT_EQ(place_of(library, "inner::Apart"), "v.cpp:18") << flags;
  }
}

TEST_F(DefinedAtTest, ATextHasLinesAndAPrefixMapChangesFiles) {
  Library library = compiled("struct Said : Vertex { InOut<float> x; void compute() { *x = 1; } };\n");
  EXPECT_EQ(place_of(library, "Said"), "<codelet text>:3");
  const std::string file = write("v.cpp", std::string(kHead) + "struct Mapped : Vertex { InOut<float> x; void compute() { *x = 1; } };\n");
  Library mapped;
  mapped.compile({{file}, ""}, "-fmacro-prefix-map=" + folder_.string() + "/=here/", nullptr);
  const std::optional<DefinedAt> at = defined_at(mapped, mapped.id_of("Mapped"));
  ASSERT_TRUE(at);
  EXPECT_EQ(at->file, "here/v.cpp");
}

TEST_F(DefinedAtTest, AssemblyIsWhereItsLabelIs) {
  const std::string cpp = write("v.cpp", std::string(kHead) + R"(class Doubled : public Vertex {
 public:
  static const bool isExternalCodelet = true;
  Input<float> x;
  Output<float> y;
  bool compute();
};
struct Beside : Vertex { InOut<float> x; void compute() { *x = 1; } };
)");
  const std::string code = write("v.S", R"(#define LABEL __runCodelet_Doubled

.text
.globl LABEL
LABEL:
  ld32 $m1, $m0, $mzero, 0
  ld32 $a0, $m1, $mzero, 0
  f32add $a0, $a0, $a0
  ld32 $m2, $m0, $mzero, 1
  st32 $a0, $m2, $mzero, 0
  exitz $mzero
)");
  Library library;
  library.compile({{cpp, code}, ""}, "", nullptr);
  ASSERT_TRUE(library.find("Doubled")->in_assembly);
  EXPECT_EQ(place_of(library, "Doubled"), "v.S:5");
  EXPECT_EQ(place_of(library, "Beside"), "v.cpp:10");
}

TEST_F(DefinedAtTest, FilesOfEarlierVersionsDoNotSayIt) {
  Library library = compiled("struct Old : Vertex { InOut<float> x; void compute() { *x = 1; } };\n");
  GpFile gp = read_gp(library.module(library[library.id_of("Old")].module).gp_bytes.get(), "new.gp");
  for (GpObject& o : gp.description.objects)
    for (std::size_t at = o.code.find(kDefinedSuffix); at != std::string::npos; at = o.code.find(kDefinedSuffix, at)) o.code[at] = '_';
  Library old;
  old.load_bytes(write_gp(gp), "old.gp");
  EXPECT_EQ(place_of(old, "Old"), "unknown");
  EXPECT_NE(old.find("Old")->kernel, nullptr);
  EXPECT_FALSE(defined_at(old, CodeletId(99)));
}

TEST_F(DefinedAtTest, WhatIsLinkedFromSeveralFilesKeepsItsPlaces) {
  write("both.h", std::string(kHead) + "struct Both : Vertex { InOut<float> x; void compute() { *x = 1; } };\n");
  const std::string a = write("a.cpp", "#include \"both.h\"\nstruct A : Vertex { InOut<float> x; void compute() { *x = 2; } };\n");
  const std::string b = write("b.cpp", "#include \"both.h\"\n\nstruct B : Vertex { InOut<float> x; void compute() { *x = 3; } };\n");
  Library library;
  library.compile({{a, b}, ""}, "", nullptr);
  EXPECT_EQ(place_of(library, "Both"), "both.h:3");
  EXPECT_EQ(place_of(library, "A"), "a.cpp:2");
  EXPECT_EQ(place_of(library, "B"), "b.cpp:3");
}

}  // namespace
}  // namespace pando
