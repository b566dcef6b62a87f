// Compiles real sources with popc and runs the kernels on hand-made descriptors.
#include "codelet/library_test.h"

#include "codelet/store/cache.h"

namespace pando {
namespace {

TEST_F(LibraryTest, RunsAPlainVertex) {
  const Library library = compiled(R"(
    class Sum : public Vertex {
     public:
      Sum();                      // declared, never defined
      Input<Vector<float>> in;
      Output<float> out;
      const float factor;
      bool compute() { *out = 0; for (const auto &v : in) *out += v * factor; return in.size() > 1; }
    };)");
  const Codelet& c = *library.find("Sum");
  ASSERT_EQ(c.fields.size(), 3u);
  EXPECT_EQ(c.host_size, 32u);
  float values[] = {1, 2, 3}, out = 0;
  struct {
    VectorEdge in;
    float* out;
    float factor;
  } vertex[2] = {{{values, 3}, &out, 2}, {{values, 1}, &out, 1}};
  EXPECT_TRUE(run(c, &vertex[0]));
  EXPECT_EQ(out, 12);
  EXPECT_FALSE(run(c, vertex, sizeof vertex[0], 2));
  EXPECT_EQ(out, 1);
  EXPECT_TRUE(run(c, nullptr, 0, 0));
  EXPECT_GT(c.code_bytes, 0u);
  EXPECT_FALSE(c.uses_tile);
}

TEST_F(LibraryTest, DescribesEveryFormOfField) {
  const Library library = compiled(R"(
    enum class Mode : unsigned char { A, B };
    namespace ns { template <class T> struct Base : Vertex { Input<T> a; }; }
    class All : ns::Base<half> {     // private base; private members
      Output<Vector<float, VectorLayout::ONE_PTR, 8>> b;
      InOut<Vector<int, VectorLayout::SHORT_SPAN, 4, true>> c;
      Vector<Input<Vector<half, VectorLayout::SCALED_PTR64, 8>>, VectorLayout::COMPACT_PTR> d;
      Vector<Output<unsigned>> e;
      Input<VectorList<char, VectorListLayout::DELTANELEMENTS, 4>> f;
      Vector<unsigned short> g;
      Mode mode;
      const bool flag;
      long long wide;
      static constexpr int ignored = 3;
      static const bool isExternalCodelet = false;
      void compute() {}
    };)");
  GpDescription d;
  d.codelets = {*library.find("All")};
  d.codelets[0].code_bytes = 300;
  d.codelets[0].stack_bytes = 40;
  EXPECT_EQ(describe(d),
            "vertex All size 120 align 8 counted by sizes code 300 stack 40\n"
            "  input  a half at 0+8\n"
            "  output b float[one_ptr] align 8 at 8+16\n"
            "  inout  c int[short_span] align 4 interleaved at 24+16\n"
            "  input  d half[compact_ptr][scaled_ptr64] align 8 at 40+16\n"
            "  output e unsigned int[span][1] align 4 at 56+16\n"
            "  input  f char[list delta_n_elements] align 4 at 72+16\n"
            "  state  g unsigned short[span] align 2 at 88+16\n"
            "  state  mode unsigned char at 104+1\n"
            "  state  flag bool at 105+1\n"
            "  state  wide long long at 112+8\n");
}

TEST_F(LibraryTest, RowsOfAllKindsHaveOneForm) {
  const Library library = compiled(R"(
    class Rows : public Vertex {
     public:
      Vector<Input<Vector<float>>> in;
      Vector<Input<float>> scalars;
      Input<VectorList<float, VectorListLayout::DELTAN>> list;
      Output<float> out;
      void compute() {
        float sum = 0;
        for (unsigned i = 0; i < in.size(); ++i) for (unsigned j = 0; j < in[i].size(); ++j) sum += in[i][j];
        for (auto &s : scalars) sum += 10 * s;
        sum += 100 * scalars[1];
        for (unsigned i = 0; i < list.size(); ++i) sum += 1000 * list[i][0] * list->size();
        *out = sum;
      }
    };)");
  float a[] = {1, 2}, b[] = {3}, out = 0;
  VectorEdge rows[] = {{a, 2}, {b, 1}}, scalars[] = {{a, 1}, {b, 1}};
  struct {
    VectorEdge in, scalars, list;
    float* out;
  } vertex = {{rows, 2}, {scalars, 2}, {rows, 2}, &out};
  EXPECT_TRUE(run(*library.find("Rows"), &vertex));
  EXPECT_EQ(out, 6 + 40 + 300 + 8000);
}

TEST_F(LibraryTest, NamesTemplatesByTheirArguments) {
  const Library library = compiled(R"(
    namespace ns {
    enum class Op { ADD, MUL };
    struct Tag {};
    template <class T, Op O, bool B, unsigned N, class X> class V : public Vertex { public: Output<T> out; void compute(); };
    template <class T, Op O, bool B, unsigned N, class X> void V<T, O, B, N, X>::compute() { *out = T(N) + (O == Op::ADD ? 1 : 2); }
    template class V<half, Op::MUL, true, 3, Tag>;
    template class V<unsigned, Op::ADD, false, 4, long long>;
    template <class T> class S;
    template <> class S<int> : public Vertex { public: Output<int> out; auto compute() -> bool { *out = 5; return true; } };
    template <class T> class Unused : public Vertex { void compute() {} };
    }
    ns::Unused<float> *nobody();
    class Layout : public SupervisorVertexIf<true> { void compute() {} };
    class Other : public SupervisorVertexIf<false> { void compute() {} };)");
  EXPECT_EQ(library.size(), 5u);
  EXPECT_NE(library.find("ns::V< half, ns::Op::MUL, true, 3, ns::Tag >"), nullptr);
  EXPECT_EQ(library.find("Layout")->kind, VertexKind::supervisor);
  EXPECT_EQ(library.find("Other")->kind, VertexKind::worker);
  unsigned out = 0;
  unsigned* vertex = &out;
  run(*library.find("ns::V<unsigned,ns::Op::ADD,false,4,long long>"), &vertex);
  EXPECT_EQ(out, 5u);
  out = 0;
  run(*library.find("ns::S<int>"), &vertex);
  EXPECT_EQ(out, 5u);
  EXPECT_THAT(library.similar("Layuot"), ElementsAre("Layout"));
}

TEST_F(LibraryTest, MultiVertexRunsSixWorkers) {
  const Library library = compiled(R"(
    #include <poplar/TileConstants.hpp>
    class Fill : public MultiVertex {
     public:
      Output<Vector<unsigned>> out;
      bool compute(unsigned worker) {
        static_assert(numWorkers() == CTXT_WORKERS, "");
        static_assert(NUM_STRIDE_BITS == 10, "");  // as machine_test has it of all machines
        for (unsigned i = worker; i < out.size(); i += numWorkers()) out[i] = worker + 1;
        return worker != 4;
      }
    };)");
  EXPECT_EQ(library.find("Fill")->kind, VertexKind::multi);
  unsigned out[8] = {};
  VectorEdge vertex = {out, 8};
  EXPECT_FALSE(run(*library.find("Fill"), &vertex));
  EXPECT_THAT(out, ElementsAre(1, 2, 3, 4, 5, 6, 1, 2));
}

TEST_F(LibraryTest, EachTileHasItsOwnGlobals) {
  const Library library = compiled(R"(
    #include <pando/tile.hpp>
    #include <iostream>                        // its initialiser stays shared
    #include <string>
    static int counter = 3;
    int *where = &counter;                     // an address in the same tile
    static int *const table[] = {nullptr, &counter};
    const int ready = counter * 2;             // a dynamic initialiser
    struct Start { int value; Start() : value(int(pando::tile_id()) + 100) {} ~Start() { __builtin_trap(); } };
    static Start start;
    std::string text = "a text that is too long for the short form";
    static char zeros[5000];
    int next() { static Start first; static int calls = 7; zeros[4999]++; return ++calls + first.value; }
    class Count : public Vertex {
     public:
      Output<Vector<int>> out;
      void compute() {
        ++*where;
        out[0] = counter; out[1] = *table[1]; out[2] = ready; out[3] = start.value; out[4] = next(); out[5] = int(text.size());
        out[6] = zeros[4999];
        text += '!';
      }
    };)");
  const Codelet& c = *library.find("Count");
  EXPECT_TRUE(c.uses_tile);
  Tiles tiles(library, 2);
  int out[7] = {};
  VectorEdge vertex = {out, 7};
  tiles.enter(0);
  run(c, &vertex);
  EXPECT_THAT(out, ElementsAre(4, 4, 6, 100, 108, 42, 1));
  run(c, &vertex);
  EXPECT_THAT(out, ElementsAre(5, 5, 6, 100, 109, 43, 2));
  tiles.enter(1);
  run(c, &vertex);
  EXPECT_THAT(out, ElementsAre(4, 4, 6, 101, 109, 42, 1));
}

TEST_F(LibraryTest, ReadsTheTileAndItsRequests) {
  const Library library = compiled(R"(
    #include <pando/tile.hpp>
    class Ask : public Vertex {
     public:
      static constexpr pando::Reserve pando_reserve{0x40, 0x20};
      static constexpr const char *pando_image = "boot";
      Output<unsigned> tile;
      void compute() { *tile = pando::tile_id() * 1000 + pando::tile_count(); pando::tile_base()[0x40] = 'x'; }
    };
    class Trap : public Vertex { public: void compute() { pando::trap("out of range"); } };)");
  const Codelet& c = *library.find("Ask");
  EXPECT_EQ(c.reserved.begin, 0x40u);
  EXPECT_EQ(c.reserved.size, 0x20u);
  EXPECT_EQ(c.reserved.image, "boot");
  Tiles tiles(library, 3);
  tiles.enter(2);
  unsigned tile = 0;
  unsigned* vertex = &tile;
  run(c, &vertex);
  EXPECT_EQ(tile, 2003u);
  EXPECT_EQ(tile_context().base[0x40], 'x');
  try {
    run(*library.find("Trap"), &vertex);
    FAIL();
  } catch (const poplar::application_runtime_error& e) { EXPECT_THAT(e.what(), HasSubstr("tile 2: out of range")); }
}

TEST_F(LibraryTest, HalfRoundsAfterEachOperation) {
  const Library library = compiled(R"(
    class Half : public Vertex {
     public:
      Input<Vector<half>> in;
      Output<Vector<half>> sum, square, negative, root, chain, third;
      void compute() {
        for (unsigned i = 0; i < in.size(); ++i) {
          const half x = in[i];
          sum[i] = x + half(0.1f);
          square[i] = x * x;
          negative[i] = -x;
          root[i] = half(__builtin_sqrtf(float(x)));
          chain[i] = x * x + x;                // two roundings
          third[i] = x / half(3);
        }
      }
    };)");
  std::vector<std::uint16_t> in(65536), sum(65536), square(65536), negative(65536), root(65536), chain(65536), third(65536);
  for (unsigned i = 0; i < 65536; ++i) in[i] = static_cast<std::uint16_t>(i);
  VectorEdge vertex[] = {{in.data(), 65536},   {sum.data(), 65536},   {square.data(), 65536}, {negative.data(), 65536},
                         {root.data(), 65536}, {chain.data(), 65536}, {third.data(), 65536}};
  run(*library.find("Half"), vertex);
  const auto expect = [](std::uint16_t got, float want, const char* what, unsigned i) {
    if (std::isnan(want)) {
      ASSERT_TRUE(std::isnan(float_from_half(got))) << what << ' ' << i;
    } else {
      ASSERT_EQ(got, half_from_float(want)) << what << ' ' << i;
    }
  };
  const float tenth = float_from_half(half_from_float(0.1f));
  for (unsigned i = 0; i < 65536; ++i) {
    const float x = float_from_half(in[i]);
    expect(sum[i], x + tenth, "sum", i);
    expect(square[i], x * x, "square", i);
    expect(negative[i], -x, "negative", i);
    expect(root[i], std::sqrt(x), "root", i);
    expect(chain[i], float_from_half(half_from_float(x * x)) + x, "chain", i);
    expect(third[i], x / 3, "third", i);
  }
}

TEST_F(LibraryTest, ShortVectorsAndTileMathematics) {
  const Library library = compiled(R"(
    #include <ipudef.h>
    #include <ipu_vector_math>
    #include <ipu_memory_intrinsics>
    #include <ipu_intrinsics>
    #include <ipu_builtins.h>
    #include <ipuvectormath>
    #include <print.h>
    #include <poplar/AvailableVTypes.h>
    #include <poplar/StackSizeDefs.hpp>
    #include "TileConstants.hpp"
    DEF_STACK_USAGE(100, compute)
    float2 pair(float a, float b) { return {a, b}; }
    class Math : public Vertex {
     public:
      InOut<Vector<float>> v;
      void compute() {
        auto [a, b] = pair(v[0], v[1]);
        float4 f = *reinterpret_cast<float4 *>(&v[1]) * 2.0f;      // not aligned to 16
        v[0] = a + b + ipu::rsqrt(f)[0];
        v[1] = ipu::fmax(f, float4{100, 0, 0, 0})[0];
        const float *p = &v[2];
        v[2] = ipu::load_postinc(&p, 2) + *p;
        half4 h = {half(1), half(2), half(3), half(4)};
        v[3] = float(ipu::sum(h)) + float(ipu::fabs(-h)[2]) + ipu::clamp(9.0f, 0.0f, 2.0f) + ipu::copysign(1.0f, -2.0f);
        // The same functions by their names in C.
        v[4] = float(half4_fma(h, h, h)[1]) + float2_sqrt(float2{9, 4})[0] + float(half2_fmax(half2{half(1), half(2)}, half2{half(3), half(0)})[0]);
      }
    };)");
  alignas(16) float values[] = {1, 2, 3, 4, 5};
  VectorEdge vertex = {values, 5};
  run(*library.find("Math"), &vertex);
  EXPECT_THAT(values, ElementsAre(3.5f, 100, 8, 14, 12));
}

TEST_F(LibraryTest, LargeArraysOfZerosAreClearedAgain) {
  const Library library = compiled(R"(
    static int kept = 5;
    static char big[20000];
    class V : public Vertex {
     public:
      Output<int> out;
      void compute() { int sum = 0; for (char c : big) sum += c; *out = sum * 10 + kept; for (char &c : big) c = 1; kept = 6; }
    };)");
  const ModuleGlobals& g = library.module(ModuleId(0)).globals;
  Tiles tiles(library, 1);
  tiles.enter(0);
  int out = 0;
  int* vertex = &out;
  run(*library.find("V"), &vertex);
  EXPECT_EQ(out, 5);
  run(*library.find("V"), &vertex);
  EXPECT_EQ(out, 200006);
  g.initialise(tile_context().base);  // what resetting a tile does
  run(*library.find("V"), &vertex);
  EXPECT_EQ(out, 5);
}

TEST_F(LibraryTest, QuarterAndIeeeHalfKeepTheirBits) {
  const Library library = compiled(R"(
    #include <poplar/IeeeHalf.hpp>
    #include <poplar/QuarterFloat.hpp>
    class Q : public Vertex {
     public:
      Output<Vector<float>> values;       // of all F143 numbers, then all F152 numbers
      Output<Vector<unsigned>> wrong;
      void compute() {
        wrong[0] = wrong[1] = 0;
        for (unsigned f = 0; f < 2; ++f)
          for (unsigned i = 0; i < 256; ++i) {
            const MetadataType packed = f * 0x80 | 0x3f;                        // scale -1
            const quarter q = quarter::fromBits(i);
            values[f * 256 + i] = poplar::toFloat(q, {quarter_metadata::format(f), 0});
            wrong[0] += toQuarter(toHalf(q, unpackMetadata(&packed)), unpackMetadata(&packed)).bits() != i;
          }
        for (unsigned i = 0; i < 0x7c01; ++i) wrong[1] += IeeeHalf(float(IeeeHalf::fromBits(i))).bit16() != i;
        wrong[2] = toQuarter(1e9f, {quarter_metadata::f143, 0}).bits();
        wrong[3] = toQuarter(17.0f, {quarter_metadata::f143, 0}).bits();   // a tie: 16 or 18
        wrong[4] = toQuarter(-1e-9f, {quarter_metadata::f143, 0}).bits();
        wrong[5] = toQuarter(248.0f, {quarter_metadata::f143, 0}, true).bits();  // a tie: 240 or what there is not
        wrong[6] = toQuarter(247.0f, {quarter_metadata::f143, 0}, true).bits();
        wrong[7] = toQuarter(half(-60000), {quarter_metadata::f143, 4}, true).bits();
      }
    };)");
  std::vector<float> values(512);
  unsigned wrong[8] = {};
  VectorEdge vertex[] = {{values.data(), 512}, {wrong, 8}};
  run(*library.find("Q"), vertex);
  EXPECT_EQ(wrong[0], 0u);
  EXPECT_EQ(wrong[1], 0u);
  EXPECT_EQ(wrong[2], 0x7fu);
  EXPECT_EQ(wrong[3], 0x60u);
  EXPECT_EQ(wrong[4], 0u);
  EXPECT_EQ(wrong[5], 0x80u);
  EXPECT_EQ(wrong[6], 0x7fu);
  EXPECT_EQ(wrong[7], 0x80u);
  EXPECT_EQ(values[0x7f], 240);
  EXPECT_EQ(values[0x40], 1);
  EXPECT_EQ(values[0x01], 0x1p-10f);
  EXPECT_TRUE(std::isnan(values[0x80]));
  EXPECT_EQ(values[256 + 0x7f], 57344);
  EXPECT_EQ(values[256 + 0xff], -57344);
}

TEST_F(LibraryTest, StoresToTensorsDoNotStopVectorising) {
  // With state and tensors assumed to overlap, this loop would be scalar. 4 KiB, many times: the vector loop is several
  // times faster, which the size of the code shows without a clock: a vector of at least 16 bytes is multiplied at once.
  const std::string file = write("scale.cpp", R"(#include <poplar/Vertex.hpp>
    using namespace poplar;
    class Scale : public Vertex { public: Input<Vector<float>> in; Output<Vector<float>> out; float f;
      void compute() { for (unsigned i = 0; i < in.size(); ++i) out[i] = in[i] * f; } };)");
  const std::string text = (folder_ / "scale.ll").string();
  ASSERT_EQ(std::system((popc_ + " --emit-llvm -o " + text + " " + file).c_str()), 0);
  std::ostringstream ir;
  ir << std::ifstream(text).rdbuf();
  EXPECT_THAT(ir.str(), ::testing::ContainsRegex("fmul <[0-9]* x float>"));
}

TEST_F(LibraryTest, StackAndCodeAreMeasured) {
  const Library library = compiled(R"(
    __attribute__((noinline)) int deep(int n) { volatile char frame[1000]; frame[n] = char(n); return frame[n / 2] + frame[n]; }
    class Deep : public Vertex { public: Output<int> out; void compute() { *out = deep(*out); } };
    __attribute__((noinline)) int deeper(int n) { volatile char frame[500]; frame[n] = char(n); return frame[n / 2] + deep(n); }
    class Deeper : public Vertex { public: Output<int> out; void compute() { *out = deeper(*out); } };
    class Flat : public Vertex { public: Output<int> out; void compute() { *out = 1; } };)");
  EXPECT_GE(library.find("Deep")->stack_bytes, 800u);
  EXPECT_LT(library.find("Flat")->stack_bytes, 100u);
  EXPECT_GE(library.find("Deeper")->stack_bytes, library.find("Deep")->stack_bytes + 500);
  EXPECT_GT(library.find("Deeper")->code_bytes, library.find("Deep")->code_bytes);
}

TEST_F(LibraryTest, CodeAndStackDoNotDependOnTheHost) {
  // Loops that a host makes vectors of, and halfs, which only some have instructions on.
  const std::string file = write("halfs.cpp", R"(#include <poplar/Vertex.hpp>
    using namespace poplar;
    class Halfs : public Vertex { public: Input<Vector<half>> in; Output<Vector<half>> out; Output<Vector<int>> whole; float f;
      void compute() { for (unsigned i = 0; i < in.size(); ++i) { out[i] = half(in[i] * in[i] + f); whole[i] = int(in[i]); } } };)");
  const auto described = [&](const std::string& march) {
    const std::string name = (folder_ / ("halfs" + march + ".gp")).string();
    EXPECT_EQ(std::system((popc_ + " -march=" + march + " -o " + name + " " + file).c_str()), 0);
    return describe(read_gp(*read_file(name), name).description);
  };
  const std::string least = described("x86-64");
  EXPECT_THAT(least, ::testing::ContainsRegex("code [0-9]+ stack [0-9]+"));
  EXPECT_EQ(described("haswell"), least);
  EXPECT_EQ(described("znver4"), least);
  EXPECT_EQ(described("sapphirerapids"), least);
}

TEST_F(LibraryTest, SeveralFilesAndCAreLinked) {
  const std::string header = write("shared.h", "#include <poplar/Vertex.hpp>\nextern \"C\" int helper(int);\n");
  const std::string a = write("a.cpp", "#include \"shared.h\"\nint twice(int x) { return 2 * x; }\n");
  const std::string b = write("b.cpp", R"(#include "shared.h"
    int twice(int);
    class Use : public poplar::Vertex { public: poplar::Output<int> out; void compute() { *out = helper(twice(4)); } };)");
  const std::string c = write("c.c", "static int calls; int helper(int x) { return x + ++calls; }\n");
  Library library;
  library.compile({{a, b, c}, ""}, "", nullptr);
  EXPECT_EQ(library.modules(), 1u);
  Tiles tiles(library, 1);
  tiles.enter(0);
  int out = 0;
  int* vertex = &out;
  run(*library.find("Use"), &vertex);
  EXPECT_EQ(out, 9);
}

TEST_F(LibraryTest, ErrorsNameTheUsersLine) {
  EXPECT_THAT(error_of("class V : public Vertex { void compute() { return x; } };"),
              HasSubstr("<stdin>:3:51: error: use of undeclared identifier 'x'"));
  const std::string file = write("wrong.cpp", "#include <poplar/Vertex.hpp>\n\nint f() { return 1 }\n");
  Library library;
  std::ostringstream diagnostics;
  EXPECT_THROW(library.compile({{file}, ""}, "", &diagnostics), poplar::graph_program_compilation_error);
  EXPECT_THAT(diagnostics.str(), HasSubstr("wrong.cpp:3:19: error: expected ';'"));
  EXPECT_THROW(library.compile({{(folder_ / "absent.cpp").string()}, ""}, "", nullptr), poplar::file_load_error);
  EXPECT_THROW(library.compile({{file}, ""}, "--target=vax", nullptr), poplar::graph_program_compilation_error);
}

TEST_F(LibraryTest, RejectsWhatAVertexCannotHave) {
  EXPECT_THAT(error_of("struct P { int x; };\nclass V : public Vertex { Input<P> p; void compute() {} };"),
              HasSubstr("<stdin>:4:36: error: Field 'V.p' has unsupported field type 'poplar::Input<P>'"));
  EXPECT_THAT(error_of("class V : public Vertex { float *p; void compute() {} };"),
              HasSubstr("Field 'V.p' has unsupported field type 'float*'"));
  EXPECT_THAT(error_of("class V : public Vertex { float a[3]; void compute() {} };"), HasSubstr("'float[3]'"));
  EXPECT_THAT(error_of("class V : public Vertex { unsigned b : 3; void compute() {} };"), HasSubstr("Field 'V.b'"));
  EXPECT_THAT(error_of("class V : public Vertex { Vector<Input<Vector<Vector<int>>>> t; void compute() {} };"), HasSubstr("Field 'V.t'"));
  EXPECT_THAT(error_of("class V : public Vertex { virtual void compute() {} };"), HasSubstr("virtual functions"));
  EXPECT_THAT(error_of("class V : public Vertex { int compute() { return 1; } };"), HasSubstr("must return void or bool"));
  EXPECT_THAT(error_of("thread_local int t; class V : public Vertex { void compute() { ++t; } };"), HasSubstr("thread_local variable 't'"));
  EXPECT_THAT(
      error_of(
          "#include <pando/tile.hpp>\nint n; class V : public Vertex { static const pando::Reserve pando_reserve; void compute() {} };"),
      HasSubstr("pando_reserve"));
}

// The device's library has none: include/pando/before_codelets.h.
TEST_F(LibraryTest, SpecialFunctionsAreForThoseWhoAskForThem) {
  const std::string text =
      "#include <cmath>\nclass V : public Vertex { public: Output<float> out; void compute() { *out = std::beta(2.f, 3.f); } };";
  EXPECT_THAT(error_of(text), HasSubstr("no member named 'beta' in namespace 'std'"));
  const Library library = compiled(text, "-D__STDCPP_WANT_MATH_SPEC_FUNCS__=1");
  float out = 0;
  float* vertex = &out;
  run(*library.find("V"), &vertex);
  EXPECT_NEAR(out, 1 / 12.0, 1e-6);
}

// <cmath> of the device's library brings these along, as PopLibs' codelets and the texts that it writes expect. An undefined std::swap
// would be found at the link alone.
TEST_F(LibraryTest, CmathBringsTypeTraitsLimitsSwapAndMin) {
  const Library library = compiled(R"(#include <cmath>
    template <typename T> struct One { typename std::remove_reference<T>::type operator()() { return std::is_integral<T>::value ? 2 : 1; } };
    #include <poplar/Vertex.hpp>
    class V : public Vertex {
     public:
      Output<float> out;
      void compute() {
        float a = 3, b = std::min(std::numeric_limits<float>::max(), 5.f);
        float *p = &a, *q = &b;
        for (int i = 0; i < 3; ++i) {
          *p += One<float>()();
          std::swap(p, q);
        }
        *out = *p * 10 + *q;
      }
    };)");
  float out = 0;
  float* vertex = &out;
  run(*library.find("V"), &vertex);
  EXPECT_EQ(out, 6 * 10 + 5);
}

TEST_F(LibraryTest, TheSecondCompilationStartsNoProcess) {
  const std::string header = write("size.h", "#define SIZE 1\n");
  const std::string file = write("v.cpp", R"(#include <poplar/Vertex.hpp>
    #include "size.h"
    class V : public poplar::Vertex { public: poplar::Output<int> out; void compute() { *out = SIZE; } };)");
  const auto result = [&](const char* flags) {
    Library library;
    library.compile({{file}, ""}, flags, nullptr);
    int out = 0;
    int* vertex = &out;
    run(*library.find("V"), &vertex);
    return out;
  };
  EXPECT_EQ(result(""), 1);
  setenv("PANDO_POPC", "/bin/false", 1);
  EXPECT_EQ(result(""), 1);
  EXPECT_THROW(result("-g"), poplar::graph_program_compilation_error);  // other flags
  write("size.h", "#define SIZE 2\n");
  EXPECT_THROW(result(""), poplar::graph_program_compilation_error);  // a header changed
  setenv("PANDO_POPC", popc_.c_str(), 1);
  EXPECT_EQ(result(""), 2);
  setenv("PANDO_POPC", "/bin/false", 1);
  EXPECT_EQ(result(""), 2);
  write("size.h", "#define SIZE 1\n");
  EXPECT_EQ(result(""), 1);  // both variants are kept
  for (const auto& entry : fs::directory_iterator(folder_ / "cache" / "codelets"))
    if (entry.path().extension() == ".gp") std::ofstream(entry.path(), std::ios::app) << "damage";
  EXPECT_THROW(result(""), poplar::graph_program_compilation_error);
  setenv("PANDO_POPC", popc_.c_str(), 1);
  EXPECT_EQ(result(""), 1);
}

TEST_F(LibraryTest, ManyMayUseTheCacheAtOnce) {
  const std::string file = write("v.cpp", "#include <poplar/Vertex.hpp>\nclass V : public poplar::Vertex { void compute() {} };\n");
  std::vector<std::thread> threads;
  std::atomic<int> found{0};
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      Library library;
      library.compile({{file}, ""}, "", nullptr);
      found += library.find("V") != nullptr;
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(found, 4);
  int left_over = 0;
  for (const auto& entry : fs::directory_iterator(folder_ / "cache" / "codelets"))
    left_over += entry.path().extension() != ".gp" && entry.path().extension() != ".manifest";
  EXPECT_EQ(left_over, 0);
}

TEST_F(LibraryTest, AssemblyIsAcceptedWhereItIsEmpty) {
  const std::string good = write("good.S", "#ifdef __IPU__\nadd $m0, $m1, 3\n#endif\n"), bad = write("bad.S", "\nadd $m0, $m1\n");
  const std::string cpp = write("v.cpp", "#include <poplar/Vertex.hpp>\nclass V : public poplar::Vertex { void compute() {} };\n");
  Library library;
  library.compile({{good, cpp}, ""}, "", nullptr);
  EXPECT_NE(library.find("V"), nullptr);
  std::ostringstream diagnostics;
  EXPECT_THROW(library.compile({{bad, cpp}, ""}, "", &diagnostics), poplar::graph_program_compilation_error);
  EXPECT_THAT(diagnostics.str(), HasSubstr("bad.S:2: 'add' has other operands"));
}

TEST_F(LibraryTest, LoadsGpBytesAndRejectsDamage) {
  const Library source = compiled("class V : public Vertex { public: Output<int> out; void compute() { *out = 11; } };");
  const std::string gp = source.module(ModuleId(0)).gp_bytes.get();
  Library library;
  library.load_bytes(gp, "v.gp");
  int out = 0;
  int* vertex = &out;
  run(*library.find("V"), &vertex);
  EXPECT_EQ(out, 11);
  const auto message = [&](const std::string& bytes) -> std::string {
    try {
      Library().load_bytes(bytes, "x.gp");
    } catch (const poplar::graph_object_load_error& e) { return e.what(); }
    return "loaded";
  };
  EXPECT_THAT(message("not a gp"), HasSubstr("'x.gp' cannot be loaded: it is not a codelet object file"));
  EXPECT_THAT(message(gp.substr(0, gp.size() - 5)), HasSubstr("bytes after its header, expected"));
  std::string other = gp;
  other[8] = 99;
  EXPECT_THAT(message(other), HasSubstr("its format is 99"));
  std::string broken = gp;
  broken[gp.size() / 2] ^= 1;
  EXPECT_THAT(message(broken), HasSubstr("checksum"));
  for (std::size_t i = 0; i < gp.size(); i += gp.size() / 50) {
    std::string flipped = gp;
    flipped[i] ^= 0x10;
    EXPECT_NE(message(flipped), "loaded") << "byte " << i;
  }
  EXPECT_THROW(Library().load_file("/nonexistent/x.gp"), poplar::file_load_error);
}

// Vertices are laid out in memory by these numbers; the checksum of each of these files is right.
TEST_F(LibraryTest, DescriptionsThatNoWriterWritesAreRejected) {
  const Library source =
      compiled("class V : public Vertex { public: Input<Vector<float>> in; Output<int> out; unsigned k; void compute() {} };");
  const GpFile good = read_gp(source.module(ModuleId(0)).gp_bytes.get(), "v.gp");
  const auto is_rejected = [&](const std::function<void(Codelet&, GpDescription&)>& change) {
    GpFile bad = good;
    change(bad.description.codelets[0], bad.description);
    try {
      Library().load_bytes(write_gp(bad), "v.gp");
    } catch (const poplar::graph_object_load_error& e) {
      return std::string(e.what()).find("its description is malformed") != std::string::npos;
    }
    return false;
  };
  EXPECT_FALSE(is_rejected([](Codelet&, GpDescription&) {}));
  EXPECT_TRUE(is_rejected([](Codelet& c, GpDescription&) { c.host_size = 8; }));
  EXPECT_TRUE(is_rejected([](Codelet& c, GpDescription&) { c.host_size = 0xfffffff0; }));
  EXPECT_TRUE(is_rejected([](Codelet& c, GpDescription&) { c.host_align = 0; }));
  EXPECT_TRUE(is_rejected([](Codelet& c, GpDescription&) { c.host_align = 24; }));
  EXPECT_TRUE(is_rejected([](Codelet& c, GpDescription&) { c.name.clear(); }));
  EXPECT_TRUE(is_rejected([](Codelet& c, GpDescription&) { c.fields[1].host_offset = 0xfffffff8; }));
  EXPECT_TRUE(is_rejected([](Codelet& c, GpDescription&) { c.fields[1].host_offset = 8; }));  // within the first one
  EXPECT_TRUE(is_rejected([](Codelet& c, GpDescription&) { c.fields[1].host_offset += 2; }));
  EXPECT_TRUE(is_rejected([](Codelet& c, GpDescription&) { c.fields[0].host_size = 8; }));
  EXPECT_TRUE(is_rejected([](Codelet& c, GpDescription&) { c.fields[1].shape = FieldShape::vector; }));
  EXPECT_TRUE(is_rejected([](Codelet& c, GpDescription&) { c.fields[0].min_align = 3; }));
  EXPECT_TRUE(
      is_rejected([](Codelet& c, GpDescription&) { c.fields[0].kind = FieldKind::state, c.fields[0].shape = FieldShape::vector_list; }));
  EXPECT_TRUE(is_rejected([](Codelet& c, GpDescription&) { c.fields[0].scalar_rows = true; }));
  EXPECT_TRUE(is_rejected([](Codelet& c, GpDescription&) { c.fields[0].name = c.fields[1].name; }));
  EXPECT_TRUE(is_rejected([](Codelet& c, GpDescription&) { c.reserved = {~std::uint64_t{0}, 64, ""}; }));
  EXPECT_TRUE(is_rejected([](Codelet& c, GpDescription&) { c.shared_ranges = {{0, ~std::uint64_t{0}, ""}}; }));
  EXPECT_TRUE(is_rejected([](Codelet&, GpDescription& d) { d.globals_size = ~std::uint64_t{0}; }));
  EXPECT_TRUE(is_rejected([](Codelet&, GpDescription& d) { d.globals_align = 0; }));
}

TEST_F(LibraryTest, CodeForAnotherProcessorIsCompiledAgain) {
  const Library source = compiled("class V : public Vertex { public: Output<int> out; void compute() { *out = 11; } };");
  GpFile gp = read_gp(source.module(ModuleId(0)).gp_bytes.get(), "v.gp");
  gp.description.objects.at(0).cpu_features.push_back("an-extension-of-the-future");
  gp.description.objects.at(0).code = "code that this processor cannot run";
  Library library;
  library.load_bytes(write_gp(gp), "v.gp");
  int out = 0;
  int* vertex = &out;
  run(*library.find("V"), &vertex);
  EXPECT_EQ(out, 11);
  setenv("PANDO_POPC", "/bin/false", 1);
  fs::remove_all(folder_ / "cache");
  try {
    Library().load_bytes(write_gp(gp), "v.gp");
    FAIL();
  } catch (const poplar::graph_object_load_error& e) { EXPECT_THAT(e.what(), HasSubstr("an-extension-of-the-future")); }
}

TEST_F(LibraryTest, OneVertexInTwoFilesIsOneUnlessItDiffers) {
  const std::string text = "class V : public Vertex { public: Output<int> out; void compute() { *out = 11; } };";
  Library library = compiled(text);
  library.compile({{}, "#include <poplar/Vertex.hpp>\nusing namespace poplar;\n" + text}, "-O1", nullptr);
  EXPECT_EQ(library.size(), 1u);
  EXPECT_THROW(
      library.compile({{}, "#include <poplar/Vertex.hpp>\nclass V : public poplar::Vertex { float x; void compute() {} };"}, "", nullptr),
      poplar::graph_object_load_error);
}

TEST_F(LibraryTest, HalfComesWithItsFunctions) {
  Library library;
  const char* const text =
      "#include <poplar/HalfFloat.hpp>\n"
      "template <class T> T root(T x) { return std::sqrt(T(x)); }\n"
      "#include <poplar/Vertex.hpp>\n"
      "class V : public poplar::Vertex { public: poplar::InOut<float> x; void compute() { *x = float(root(half(*x))); } };";
  library.compile({{}, text}, "-Wall -Werror", nullptr);
  float x = 16;
  float* place = &x;
  run(*library.find("V"), &place);
  EXPECT_EQ(x, 4);
}

TEST_F(LibraryTest, DoublePromotionIsNotOfHalfs) {
  const auto source = [](const char* type) {
    return std::string(
               "#include <poplar/Vertex.hpp>\n"
               "float to_float(float x) { return x; }\ndouble to_double(double x) { return x; }\n"
               "class V : public poplar::Vertex { public: poplar::InOut<float> x; void compute() { *x = float(") +
           type + "); } };";
  };
  Library library;
  library.compile({{}, source("to_float(half(*x))")}, "-Wdouble-promotion -Werror", nullptr);
  const auto messages = [&](const char* expression, const char* flags) {
    std::ostringstream diagnostics;
    Library other;
    try {
      other.compile({{}, source(expression)}, flags, &diagnostics);
    } catch (const poplar::graph_program_compilation_error&) { diagnostics << "rejected"; }
    return diagnostics.str();
  };
  const char* const message = "implicit conversion increases floating-point precision";
  EXPECT_THAT(messages("to_double(*x)", "-Wdouble-promotion -Werror"), AllOf(HasSubstr(message), HasSubstr("rejected")));
  EXPECT_THAT(messages("to_double(half(*x))", "-Wdouble-promotion -Werror"), AllOf(HasSubstr(message), HasSubstr("rejected")));
  EXPECT_THAT(messages("to_double(*x)", "-Wdouble-promotion"), AllOf(HasSubstr(message), ::testing::Not(HasSubstr("rejected"))));
  EXPECT_EQ(messages("to_float(half(*x))", "-Wdouble-promotion -Werror"), "");
  EXPECT_EQ(messages("to_double(*x)", ""), "");
}

TEST_F(LibraryTest, ExceptionsAndLibraryCodeWork) {
  const Library library = compiled(R"(
    #include <algorithm>
    #include <cmath>
    #include <math.h>
    #include <stdexcept>
    static_assert(std::is_same<decltype(std::sqrt(half(4))), half>::value, "");
    static_assert(std::is_same<decltype(std::sqrt(4)), double>::value, "");
    static_assert(std::numeric_limits<half>::is_specialized && std::numeric_limits<half>::digits == 11, "");
    static_assert(float(std::numeric_limits<half>::max()) == 65504 && float(std::numeric_limits<half>::lowest()) == -65504, "");
    static_assert(float(std::numeric_limits<half>::min()) * 16 == float(std::numeric_limits<half>::epsilon()), "");
    static_assert(float(std::numeric_limits<half>::denorm_min()) * 1024 == float(std::numeric_limits<half>::min()), "");
    static_assert(float(half(2049)) == 2048 && float(std::numeric_limits<half>::infinity()) > 65504, "");
    static_assert(std::is_same<decltype(abs(-4)), int>::value, "");
    static_assert(std::is_same<decltype(exp(4.0f)), float>::value, "");
    #include <vector>
    class V : public Vertex {
     public:
      InOut<Vector<float>> v;
      void compute() {
        std::vector<float> copy(v.begin(), v.end());
        std::sort(copy.begin(), copy.end(), [](float a, float b) { return a > b; });
        try { copy.at(100); } catch (const std::out_of_range &) { copy[0] = std::sqrt(copy[0]) + float(std::fabs(half(-3)) - std::pow(half(3), half(1))); }
        std::copy(copy.begin(), copy.end(), &v[0]);
      }
    };)",
                                   "-Wall -Werror");
  float values[] = {1, 16, 9};
  VectorEdge vertex = {values, 3};
  run(*library.find("V"), &vertex);
  EXPECT_THAT(values, ElementsAre(4, 9, 1));
}

}  // namespace
}  // namespace pando
