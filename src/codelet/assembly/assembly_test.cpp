// Vertices in assembly: what they compute, how many instructions are executed, what is rejected, addresses that are checked.
#include "codelet/assembly/assembly_test.h"

namespace pando {
namespace {

constexpr const char* kTriad = R"(
#define PTR_B m0
#define PTR_C m1
#define PTR_A m2
#define PAIRS m3
.macro FUNCTION name align=8
.section .text.\name, "ax"
.globl \name
.type \name, @function
.align \align
\name:
.endm

FUNCTION __runCodelet_Triad
  ld32 $PTR_B, $mvertex_base, $mzero, 0
  ld32 $PTR_C, $mvertex_base, $mzero, 1
  ld32 $PTR_A, $mvertex_base, $mzero, 2
  ld32 $PAIRS, $mvertex_base, $mzero, 3   // of elements
  ld32 $a6, $mvertex_base, $mzero, 4
  ld64step $a0:1, $mzero, $PTR_C+=, 1
  nop
  rpt $PAIRS, (3f - 2f) / 8 - 1
2:
  { ld64step $a2:3, $mzero, $PTR_B+=, 1 ; f32v2mul $a0:1, $a6:B, $a0:1 }
  {
    ld64step $a0:1, $mzero, $PTR_C+=, 1
    f32v2add $a4:5, $a0:1, $a2:3
  }
  { st64step $a4:5, $mzero, $PTR_A+=, 1 ; fnop }
3:
  exitz $mzero
.size __runCodelet_Triad, .-__runCodelet_Triad
)";
constexpr const char* kTriadVertex = R"(class Triad : public Vertex {
 public:
  Input<Vector<float, VectorLayout::ONE_PTR, 8>> b, c;
  Output<Vector<float, VectorLayout::ONE_PTR, 8>> a;
  unsigned pairs;
  float scale;
  static const bool isExternalCodelet = true;
  bool compute();
};)";

TEST_F(Assembly, ATriadRunsAndIsCountedExactly) {
  const Library library = assembled(kTriadVertex, kTriad);
  const Codelet& triad = *library.find("Triad");
  EXPECT_TRUE(triad.in_assembly);
  EXPECT_EQ(triad.counting, CountedBy::run);
  EXPECT_EQ(triad.code_bytes, 60u);  // nine single instructions and three bundles
  for (const unsigned n : {0u, 2u, 64u, 1000u}) {
    AssembledVertex v(triad);
    const std::span<float> b = v.edge<float>("b", n), c = v.edge<float>("c", n), a = v.edge<float>("a", n);
    for (unsigned i = 0; i < n; ++i) b[i] = 0.5f * static_cast<float>(i), c[i] = static_cast<float>(i) - 7;
    v.state("pairs", n / 2).state("scale", 3.0f);
    bool result = false;
    EXPECT_EQ(v.run_counted(&result), 9 + 3 * (n / 2));
    EXPECT_TRUE(result);
    for (unsigned i = 0; i < n; ++i) EXPECT_EQ(a[i], b[i] + 3 * c[i]) << i;
    std::fill(a.begin(), a.end(), 0.0f);
    EXPECT_TRUE(v.run());
    for (unsigned i = 0; i < n; ++i) EXPECT_EQ(a[i], b[i] + 3 * c[i]) << i;
  }
}

// The midpoint rule, one worker: division takes five slots, everything else one.
TEST_F(Assembly, PiByQuadratureIsCountedExactly) {
  const Library library = assembled(R"(class Pi : public Vertex {
 public:
  Output<float> out; unsigned steps; float step;
  static const bool isExternalCodelet = true;
  bool compute();
};)",
                                    R"(
.section .text.pi
.globl __runCodelet_Pi
__runCodelet_Pi:
  ld32 $m0, $mvertex_base, 0
  ld32 $m1, $mvertex_base, 1
  ld32 $a0, $mvertex_base, 2        // h
  or $a1, $azero, 0x3f000000        // 0.5
  or $a2, $azero, 0x3f800000        // 1.0
  { bri 2f ; f32mul $a3, $a0, $a1 } // x
1:
  f32mul $a5, $a3, $a3
  f32add $a5, $a5, $a2
  f32div $a5, $a2, $a5
  f32add $a4, $a4, $a5
  f32add $a3, $a3, $a0
2:
  brnzdec $m1, 1b
  ldconst $a5, 0x40800000           // 4.0
  f32mul $a4, $a4, $a5
  f32mul $a4, $a4, $a0
  st32 $a4, $m0, $mzero, 0
  exitz $m15
)");
  for (const unsigned n : {0u, 10u, 1000u}) {
    AssembledVertex v(*library.find("Pi"));
    const std::span<float> out = v.edge<float>("out", 1);
    v.state("steps", n).state("step", 1.0f / static_cast<float>(n));
    // Before the loop 6, a round 4 + 5 + 1, the last test 1, behind it 5.
    EXPECT_EQ(v.run_counted(), 6 + 10 * n + 1 + 5);
    if (n == 1000) EXPECT_NEAR(out[0], 3.14159265f, 1e-4);
  }
}

TEST_F(Assembly, AFunctionIsCalledAndItsAddressTaken) {
  const Library library = assembled(R"(class Calls : public Vertex {
 public:
  InOut<Vector<int>> x;
  static const bool isExternalCodelet = true;
  bool compute();
};)",
                                    R"(
.section .text.calls
.globl __runCodelet_Calls
.equ SIZE, 1
__runCodelet_Calls:
  ld32 $m0, $mvertex_base, $mzero, 0
  ld32 $m1, $m0, $mzero, 0
  call $m10, .Ltriple
  st32 $m1, $m0, $mzero, 0
  ld32 $m1, $m0, $mzero, SIZE
  call $m10, .Ltriple
  st32 $m1, $m0, $mzero, SIZE
  ld32 $m2, $m0, $mzero, 2
  shl $m2, $m2, 2
  setzi $m3, table
  ld32 $m3, $m3, $m2, 0
  br $m3
.Lfirst:
  setzi $m4, 100
  bri .Lend
.Lsecond:
  setzi $m4, 200
.Lend:
  st32 $m4, $m0, $mzero, 2
  exitnz $mzero
.Ltriple:
  add $m5, $m1, $m1
  add $m1, $m5, $m1
  br $m10
.section .rodata
.align 4
table:
  .int .Lfirst, .Lsecond
)");
  for (const int way : {0, 1}) {
    AssembledVertex v(*library.find("Calls"));
    const std::span<int> x = v.edge<int>("x", 3);
    x[0] = 5, x[1] = -7, x[2] = way;
    bool result = true;
    EXPECT_EQ(v.run_counted(&result), 12u + 6 + (way == 0 ? 2 : 1) + 2);
    EXPECT_FALSE(result);
    EXPECT_THAT(std::vector<int>(x.begin(), x.end()), ElementsAre(15, -21, way == 0 ? 100 : 200));
  }
}

TEST_F(Assembly, AllFaultsOfAFileAreReportedWithTheirLine) {
  const std::string all = errors_of(R"(.section .text.foo
foo:
  add $m0, $m1
  frobnicate $m0
  { add $m0, $m1, $m2 }
  ld32 $m0, $m1, $m2, 5000
  f32v2add $a1:2, $a0:1, $a0:1
  rpt $m0, 0
  nop
  .quux 3
  brz $m0, 7f
  { f32add $a0, $a1, $a2 ; add $m0, $m1, $m2 }
  { ld32 $a0, $m0, $mzero, 0 ; f32add $a0, $a1, $a2 }
  .if undefined_yet
  .endif
  sans 0
)");
  for (const char* part :
       {"wrong.S:3: 'add' has other operands: 'add $m0, $m1'; expected: =m,m,m|=m,m,i16", "wrong.S:4: instruction 'frobnicate' is unknown",
        "wrong.S:5: a bundle holds two instructions", "wrong.S:6: 'ld32 $m0, $m1, $m2, 5000': 5000 is not within 0 to 4095",
        "wrong.S:7: '$a1:2': a group is of 2 or 4 registers and begins at a multiple of that", "wrong.S:10: directive '.quux' is unknown",
        "wrong.S:11: there is no label 7", "wrong.S:12: a bundle is an instruction of the main pipe, then one of the auxiliary pipe",
        "wrong.S:13: both instructions of a bundle write one register", "wrong.S:14: 'undefined_yet' has no value yet",
        "wrong.S:16: instruction 'sans' is unknown"})
    EXPECT_THAT(all, HasSubstr(part));
  EXPECT_THAT(errors_of("  rpt $m0, 0\n  nop\n  exitz $mzero\n"),
              HasSubstr("wrong.S:2: 'nop' in the body of rpt (line 1): only bundles are repeated"));
  EXPECT_THAT(errors_of("  rpt $m0, 0\n  { nop ; fnop }\n  exitz $mzero\n"), HasSubstr("begins at 4 mod 8"));
  EXPECT_THAT(errors_of(".macro M a\n add $m0, $m0, \\a\n.endm\n M 1, 2\n"),
              HasSubstr("wrong.S:4: macro 'M' takes 1 arguments; '2' is one more"));
}

TEST_F(Assembly, AddressesAreChecked) {
  const std::pair<const char*, const char*> cases[] = {
      {"ld32 $m1, $mzero, $mzero, 0", "ld32 $m1, $mzero, $mzero, 0: it reads 4 bytes at address 0x0, outside of the tile's"},
      {"st32 $m1, $m2, $mzero, 0", "st32 $m1, $m2, $mzero, 0: it writes 4 bytes at address"},
      {"br $m0", "'br $m0': the register does not hold the address of a label"},
      {"ld32 $m1, $m0, $mzero, 1", "no error"}};
  std::string cpp, code;
  for (std::size_t i = 0; i < std::size(cases); ++i) {
    const std::string name = "V" + std::to_string(i);
    cpp += "class " + name + " : public Vertex {\n public:\n  InOut<Vector<int>> x;\n  static const bool isExternalCodelet = true;\n};\n";
    code += ".globl __runCodelet_" + name + "\n__runCodelet_" + name + ":\n  ld32 $m0, $mvertex_base, $mzero, 0\n  add $m2, $m0, 2\n  " +
            cases[i].first + "\n  exitz $mzero\n";
  }
  const Library library = assembled(cpp, code);
  for (std::size_t i = 0; i < std::size(cases); ++i) {
    AssembledVertex v(*library.find("V" + std::to_string(i)));
    v.edge<int>("x", 4);
    std::string said = "no error";
    try {
      v.run_counted();
    } catch (const poplar::application_runtime_error& e) { said = e.what(); }
    EXPECT_THAT(said, HasSubstr(cases[i].second));
    if (i < 3) EXPECT_THAT(said, HasSubstr("v.S:" + std::to_string(6 * i + 5) + ":"));
  }
}

// Code and vertex in files that are compiled apart.
TEST_F(Assembly, AVertexFindsItsCodeInAnotherModule) {
  Library library;
  library.compile({{write("vertex.cpp", std::string("#include <poplar/Vertex.hpp>\nusing namespace poplar;\n") + kTriadVertex)}, ""}, "",
                  nullptr);
  EXPECT_EQ(library.find("Triad")->kernel, nullptr);
  EXPECT_THROW(library.link("0"), poplar::link_error);
  library.compile({{write("triad.S", kTriad)}, ""}, "", nullptr);
  library.link("0");
  EXPECT_NE(library.find("Triad")->kernel, nullptr);
}

}  // namespace
}  // namespace pando
