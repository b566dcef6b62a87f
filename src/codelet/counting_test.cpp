// Codelets counted as a tile's compiler would run them: the selected instructions as text, counts that follow from sizes, inputs and runs,
// and results that stay the same bits.
#include "codelet/library_test.h"

namespace pando {
namespace {

constexpr const char* kVertices = R"(
    class Scale : public Vertex {
     public:
      Input<Vector<float>> in; Output<Vector<float>> out; float factor;
      void compute() { for (unsigned i = 0; i < out.size(); ++i) out[i] = in[i] * factor; } };
    class Stencil : public Vertex {
     public:
      Input<Vector<float>> in; Output<Vector<float>> out; float factor;
      void compute() { for (unsigned i = 0; i < out.size(); ++i) out[i] = factor * in[i + 1] + (in[i] + in[i + 2]); } };
    class Pairs : public Vertex {
     public:
      Input<Vector<float, VectorLayout::SPAN, 8>> in; Output<Vector<float, VectorLayout::SPAN, 8>> out;
      void compute() {
        auto* from = reinterpret_cast<const float2*>(&in[0]);
        auto* to = reinterpret_cast<float2*>(&out[0]);
        for (unsigned i = 0; i < out.size() / 2; ++i) to[i] = from[i] + from[i]; } };
    class Rows : public Vertex {
     public:
      Vector<Input<Vector<float>>> in; Output<Vector<float>> out;
      void compute() {
        for (unsigned r = 0; r < in.size(); ++r) {
          float sum = 0;
          for (unsigned i = 0; i < in[r].size(); ++i) sum += in[r][i];
          out[r] = sum; } } };
    class Halves : public Vertex {
     public:
      Input<Vector<half, VectorLayout::SPAN, 8>> in; Output<Vector<half, VectorLayout::SPAN, 8>> out;
      void compute() {
        auto* from = reinterpret_cast<const half4*>(&in[0]);
        auto* to = reinterpret_cast<half4*>(&out[0]);
        for (unsigned i = 0; i < 64; ++i) to[i] = from[i] * from[i]; } };
    class UpTo : public Vertex {
     public:
      Input<unsigned> n; Input<Vector<float>> in; Output<float> out;
      void compute() { float sum = 0; for (unsigned i = 0; i < *n; ++i) sum += in[i]; *out = sum; } };
    class Halve : public Vertex {
     public:
      InOut<Vector<float>> x;
      bool compute() { for (unsigned i = 0; i < x.size(); ++i) while (x[i] > 1) x[i] *= 0.5f; return x[0] > 0; } };
    class Timed : public Vertex {
     public:
      Input<Vector<float>> in; Output<float> out; Output<unsigned> cycles;
      void compute() {
        const unsigned begin = __builtin_ipu_get_scount_l();
        float sum = 0; for (unsigned i = 0; i < in.size(); ++i) sum += __builtin_ipu_exp(in[i]);
        *cycles = __builtin_ipu_get_scount_l() - begin; *out = sum; } };
    class Shared : public MultiVertex {
     public:
      InOut<Vector<float>> x;
      void compute(unsigned worker) { for (unsigned i = worker; i < x.size(); i += numWorkers()) x[i] += 1; } };
    class Doubles : public Vertex {
     public:
      Input<float> in; Output<float> out;
      void compute() { *out = static_cast<float>(static_cast<double>(*in) * 1.1); } };
    class Divides : public Vertex {
     public:
      Input<Vector<int>> in; Output<Vector<int>> out; int by;
      void compute() {
        int n = in[0]; unsigned u = static_cast<unsigned>(in[1]);
        out[0] = n / 8; out[1] = n % 8; out[2] = n / 2; out[3] = static_cast<int>(u / 16u + u % 16u); } };
    class DividesBy : public Vertex {
     public:
      Input<Vector<int>> in; Output<Vector<int>> out; int by;
      void compute() { out[0] = in[0] / by; } };
    class Neighbours : public Vertex {
     public:
      Input<Vector<float>> in; Output<Vector<float>> out;
      void compute() { for (unsigned i = 1; i <= out.size(); ++i) out[i - 1] = in[i] * (in[i + 1] + in[i - 1]); } };
    class Pressed : public Vertex {
     public:
      Input<Vector<float>> in; Output<Vector<float>> out; unsigned n; float a, b, c, d, e, f, g, h, k;
      void compute() {
        float sum = 0;
        for (unsigned i = 0; i < n; ++i) {
          const float x = in[i];
          sum += (((((((a * x + b) * x + c) * x + d) * x + e) * x + f) * x + g) * x + h) * x + k; }
        out[0] = sum; } };
    static __attribute__((noinline)) int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
    class Recursive : public Vertex {
     public:
      Input<Vector<int>> in; Output<Vector<int>> out;
      void compute() { for (unsigned i = 0; i < in.size(); ++i) out[i] = fibonacci(in[i]); } };
    class Filled : public Vertex {
     public:
      Input<Vector<float>> in; Output<Vector<float>> out; unsigned n;
      void compute() {
        float bins[40];
        __builtin_memset(bins, 0, sizeof bins);
        for (unsigned i = 0; i < in.size(); ++i) bins[static_cast<int>(in[i]) & 31] += 1;
        __builtin_memcpy(&out[0], bins, n * sizeof(float)); } };
    class Counts : public Vertex {
     public:
      Input<Vector<unsigned char>> in; Output<Vector<unsigned, VectorLayout::ONE_PTR>> out;
      void compute() {
        unsigned more[3][16] = {};
        for (unsigned k = 0; k < 16; ++k) out[k] = 0;
        unsigned i = 0;
        for (; i + 4 <= in.size(); i += 4)
          ++out[in[i] & 15], ++more[0][in[i + 1] & 15], ++more[1][in[i + 2] & 15], ++more[2][in[i + 3] & 15];
        for (; i < in.size(); ++i) ++out[in[i] & 15];
        for (unsigned k = 0; k < 16; ++k) out[k] += more[0][k] + more[1][k] + more[2][k]; } };
    class Rounds : public Vertex {
     public:
      Input<Vector<unsigned char>> in; Output<unsigned> out;
      void compute() {
        unsigned bins[16] = {}, copy[16];
        for (unsigned i = 0; i < in.size(); ++i) ++bins[in[i] & 15];
        __builtin_memcpy(copy, bins, sizeof bins);
        unsigned n = copy[3], rounds = 0;
        for (; n > 1; ++rounds) n = n % 2 ? 3 * n + 1 : n / 2;
        *out = rounds; } };
    class Moved : public Vertex {
     public:
      InOut<Vector<float>> x; InOut<Vector<unsigned char>> bytes; unsigned n;
      void compute() {
        __builtin_memmove(&x[1], &x[0], n * sizeof(float));
        __builtin_memmove(&x[2], &x[5], n * sizeof(float));
        __builtin_memmove(&bytes[3], &bytes[0], n);
        while (x[0] > 1) x[0] *= 0.5f; } };
    class Sine : public Vertex {
     public:
      InOut<float> x;
      void compute() { *x = sinf(*x); } };)";

// A vertex in host memory: edges by name, in the order that they are set.
class Object {
 public:
  explicit Object(const Codelet& c) : codelet_(c), bytes_(c.host_size + 16) {}
  template <class T>
  Object& edge(const char* name, std::vector<T>& elements) {
    put(name, elements.data(), elements.size());
    return *this;
  }
  Object& rows(const char* name, std::vector<VectorEdge>& rows) {
    put(name, rows.data(), rows.size());
    return *this;
  }
  template <class T>
  Object& state(const char* name, T value) {
    std::memcpy(data() + codelet_.find_field(name)->host_offset, &value, sizeof value);
    return *this;
  }
  char* data() { return bytes_.data() + (16 - reinterpret_cast<std::uintptr_t>(bytes_.data()) % 16) % 16; }
  PANDO_CALLS_CODELETS std::uint64_t count() { return codelet_.count(data()); }
  PANDO_CALLS_CODELETS std::uint64_t run_counted(bool* result = nullptr) {
    std::uint64_t at = 0, cycles = 0;
    const bool all = codelet_.counted(data(), 0, 1, &at, &cycles);
    if (result) *result = all;
    return cycles;
  }

 private:
  void put(const char* name, void* data, std::uint64_t size) {
    const Field* f = codelet_.find_field(name);
    const VectorEdge edge{data, size};
    std::memcpy(this->data() + f->host_offset, &edge, f->host_size);
  }
  const Codelet& codelet_;
  std::vector<char> bytes_;
};

class Counting : public LibraryTest {
 protected:
  const Codelet& codelet(const char* name) {
    static const Library library = compiled(kVertices);
    const Codelet* c = library.find(name);
    EXPECT_NE(c, nullptr) << name;
    return *c;
  }
  static std::string output_of(const std::string& command) {
    FILE* out = popen(command.c_str(), "r");
    std::string all;
    for (char buffer[512]; fgets(buffer, sizeof buffer, out) != nullptr;) all += buffer;
    pclose(out);
    return all;
  }
  std::uint64_t of_sizes(const char* name, std::size_t elements) {
    std::vector<float> in(elements + 2), out(elements);
    return Object(codelet(name)).edge("in", in).edge("out", out).state("factor", 2.0f).count();
  }
  // What `popc --print-count` prints of a function of kVertices.
  std::string printed(const std::string& function) {
    const std::string source = write("source.cpp", std::string("#include <poplar/Vertex.hpp>\nusing namespace poplar;\n") + kVertices);
    static const std::string all = output_of(popc_ + " --print-count " + source);
    const std::size_t begin = all.find("function " + function);
    EXPECT_NE(begin, std::string::npos) << all;
    const std::size_t end = all.find("function ", begin + 1);
    return all.substr(begin, end == std::string::npos ? end : end - begin);
  }
};

TEST_F(Counting, LoopsAreSelectedAsText) {
  EXPECT_EQ(printed("Scale::compute()"), R"(function Scale::compute()
  block 0: 2 slots -> 3, 1
    ld32
    brnz
  block 1: 4 slots -> 4
    ld32
    ld32
    ld32
    add ; of the loop
  block 2: 0 slots -> 3
  block 3: 1 slots
    br
  block 4: 5 slots -> 2, 4
    ld32
    ld32 ; a field, again
    f32mul
    st32
    brnzdec
)");
  EXPECT_EQ(printed("Stencil::compute()"), R"(function Stencil::compute()
  block 0: 2 slots -> 3, 1
    ld32
    brnz
  block 1: 6 slots -> 4
    ld32
    ld32
    ld32
    add ; of the loop
    mov ; of the loop
    add ; of the loop
  block 2: 0 slots -> 3
  block 3: 1 slots
    br
  block 4: 10 slots -> 2, 4
    add ; a constant in an address is positive
    ld32
    ld32 ; a field, again
    ld32 | f32mul
    ld32
    f32add
    f32add
    st32
    add ; the next addresses
    brnzdec
)");
  EXPECT_EQ(printed("Halves::compute()"), R"(function Halves::compute()
  block 0: 3 slots -> 2
    ld32
    ld32
    rpt ; of the loop
  block 1: 1 slots
    br
  block 2: 3 slots, body of a rpt -> 1, 2
    ld64
    f16v4mul
    st64
)");
}

TEST_F(Counting, EachRoundOfASimpleLoopTakesTheSame) {
  for (const char* name : {"Scale", "Stencil"}) {
    const std::uint64_t round = of_sizes(name, 8) - of_sizes(name, 7);
    EXPECT_GT(round, 0u);
    for (std::size_t n : {1, 2, 30, 1000, 5000}) EXPECT_EQ(of_sizes(name, n + 1) - of_sizes(name, n), round) << name << " " << n;
  }
}

// Powers of two are shifted; other divisors are divided by in software.
TEST_F(Counting, DivisionsByPowersOfTwoAreShifts) {
  const std::string text = printed("Divides::compute()");
  EXPECT_THAT(text, testing::Not(HasSubstr("nop")));
  EXPECT_THAT(text, HasSubstr("shrs"));
  std::vector<int> in(2), out(4);
  const auto slots = [&](const char* name) { return Object(codelet(name)).edge("in", in).edge("out", out).state("by", 3).count(); };
  EXPECT_LT(slots("Divides"), 40u);
  EXPECT_GT(slots("DividesBy"), 40u);
}

// What public output of a tile's compiler shows: constants in addresses are positive, so an element below the first one takes an `add`.
TEST_F(Counting, ElementsBelowTheFirstOneTakeAnAddition) {
  const std::string text = printed("Neighbours::compute()");
  EXPECT_THAT(text, HasSubstr("add ; a constant in an address is positive"));
  EXPECT_THAT(printed("Rows::compute()"), testing::Not(HasSubstr("is positive")));
}

TEST_F(Counting, ValuesWithoutARegisterAreLoadedAgain) {
  EXPECT_THAT(printed("Pressed::compute()"), HasSubstr("back from the stack"));
  EXPECT_THAT(printed("Rows::compute()"), testing::Not(HasSubstr("back from the stack")));
}

TEST_F(Counting, WhatTheCyclesFollowFrom) {
  for (const char* name : {"Scale", "Stencil", "Pairs", "Rows", "Halves", "Shared"})
    EXPECT_EQ(codelet(name).counting, CountedBy::sizes) << name;
  EXPECT_EQ(codelet("UpTo").counting, CountedBy::inputs);
  EXPECT_EQ(codelet("Halve").counting, CountedBy::run);
  EXPECT_EQ(codelet("Timed").counting, CountedBy::run);
  EXPECT_TRUE(codelet("Timed").reads_cycles);
  EXPECT_FALSE(codelet("Halve").reads_cycles);
}

// Tables that are counted up and decide nothing are not read for the cycles; those that a loop's end comes from are.
TEST_F(Counting, VariablesThatDecideNothingAreNotCounted) {
  EXPECT_EQ(codelet("Counts").counting, CountedBy::sizes);
  EXPECT_EQ(codelet("Filled").counting, CountedBy::sizes);
  EXPECT_EQ(codelet("Rounds").counting, CountedBy::inputs);
  std::vector<unsigned char> in(40, 3);
  std::vector<unsigned> out(16);
  const auto cycles = [&](const char* name) {
    Object object(codelet(name));
    object.edge("in", in).edge("out", out);
    return object.count();
  };
  const std::uint64_t threes = cycles("Rounds");
  in.assign(40, 4);
  EXPECT_LT(cycles("Rounds"), threes) << "rounds of its last loop";
}

TEST_F(Counting, WhatCannotBeCountedSaysWhy) {
  EXPECT_EQ(codelet("Doubles").counting, CountedBy::nothing);
  EXPECT_EQ(codelet("Doubles").uncounted, "it computes with double");
  EXPECT_THAT(codelet("Sine").uncounted, HasSubstr("it calls sin, whose slots are not known"));
  EXPECT_EQ(codelet("Sine").count, nullptr);
  EXPECT_EQ(codelet("Sine").counted, nullptr);
  EXPECT_EQ(codelet("Scale").uncounted, "");
  Library off = compiled(kVertices, "-O3 -fno-count");
  EXPECT_EQ(off.find("Scale")->counting, CountedBy::nothing);
  EXPECT_EQ(off.find("Scale")->uncounted, "");
}

TEST_F(Counting, RowsAndInputsAreFollowed) {
  std::vector<float> a(10), out(3);
  const auto rows_of = [&](std::vector<VectorEdge> rows) { return Object(codelet("Rows")).rows("in", rows).edge("out", out).count(); };
  const std::uint64_t one = rows_of({{a.data(), 5}}), longer = rows_of({{a.data(), 6}}), two = rows_of({{a.data(), 5}, {a.data(), 6}});
  EXPECT_GT(longer, one);
  EXPECT_GT(two, longer);
  std::vector<unsigned> n = {10};
  const auto up_to = [&](unsigned rounds) {
    n[0] = rounds;
    return Object(codelet("UpTo")).edge("n", n).edge("in", a).edge("out", out).count();
  };
  EXPECT_EQ(up_to(9) - up_to(8), up_to(3) - up_to(2));
  EXPECT_GT(up_to(9), up_to(8));
}

TEST_F(Counting, CodeThatCountsGivesTheSameBits) {
  const std::vector<float> begin = {100, 0.25f, 3, -7, 1e30f, 1};
  std::vector<float> plain = begin, counted = begin;
  Object a(codelet("Halve")), b(codelet("Halve"));
  const bool expected = run(codelet("Halve"), a.edge("x", plain).data());
  bool result = false;
  const std::uint64_t cycles = b.edge("x", counted).run_counted(&result);
  EXPECT_EQ(plain, counted);
  EXPECT_EQ(result, expected);
  std::vector<float> small = {0.5f, 0.25f, 0.5f, -7, 0.5f, 1};
  EXPECT_LT(Object(codelet("Halve")).edge("x", small).run_counted(), cycles);
}

// A function that only computes is counted in each of its calls: what takes n is what takes n - 1, and n - 2, and the same for each n.
TEST_F(Counting, CallsOfFunctionsWithoutEffectsCount) {
  EXPECT_EQ(codelet("Recursive").counting, CountedBy::run);
  std::vector<int> in(1), out(1);
  const auto slots = [&](int n) {
    in[0] = n;
    const std::uint64_t cycles = Object(codelet("Recursive")).edge("in", in).edge("out", out).run_counted();
    return static_cast<std::int64_t>(cycles);
  };
  EXPECT_EQ(slots(10) - slots(9) - slots(8), slots(13) - slots(12) - slots(11));
  EXPECT_EQ(out[0], 89);
  EXPECT_GT(slots(13), 5 * 377);  // calls whose result is 1: each takes a few slots
}

TEST_F(Counting, BlocksOfMemoryAreLoops) {
  EXPECT_NE(codelet("Filled").counting, CountedBy::nothing) << codelet("Filled").uncounted;
  std::vector<float> in(7), out(40);
  const auto filled = [&](unsigned n) { return Object(codelet("Filled")).edge("in", in).edge("out", out).state("n", n).count(); };
  EXPECT_GT(filled(1), 20u);  // the table of 40 words is filled with 64-bit stores
  for (const unsigned n : {1u, 9u, 38u}) EXPECT_EQ(filled(n + 1) - filled(n), 3u) << n;  // a load, a store, a branch
}

TEST_F(Counting, BlocksThatOverlapMoveAsTheyShould) {
  std::vector<float> begin(40);
  std::vector<unsigned char> some(40);
  for (std::size_t i = 0; i < begin.size(); ++i) begin[i] = 9 + static_cast<float>(i), some[i] = static_cast<unsigned char>(i);
  for (const unsigned n : {0u, 1u, 2u, 7u, 30u}) {
    std::vector<float> plain = begin, counted = begin;
    std::vector<unsigned char> plain_bytes = some, counted_bytes = some;
    Object a(codelet("Moved")), b(codelet("Moved"));
    run(codelet("Moved"), a.edge("x", plain).edge("bytes", plain_bytes).state("n", n).data());
    EXPECT_GT(b.edge("x", counted).edge("bytes", counted_bytes).state("n", n).run_counted(), 8 * n);
    EXPECT_EQ(plain, counted) << n;
    EXPECT_EQ(plain_bytes, counted_bytes) << n;
  }
}

TEST_F(Counting, TheCounterOfCyclesAdvances) {
  std::vector<float> in(100, 0.5f), out(1);
  std::vector<unsigned> cycles(1);
  const auto read = [&](std::size_t n) {
    std::vector<float> part(in.begin(), in.begin() + static_cast<std::ptrdiff_t>(n));
    Object(codelet("Timed")).edge("in", part).edge("out", out).edge("cycles", cycles).run_counted();
    return cycles[0];
  };
  EXPECT_EQ(read(51) - read(50), read(11) - read(10));
  EXPECT_EQ((read(51) - read(50)) % 6, 0u);
  EXPECT_GE(read(51) - read(50), 6u * 4);  // f32exp alone has 3 slots
}

TEST_F(Counting, WorkersOfAMultiVertexRunTogether) {
  std::vector<float> x(600);
  const auto count = [&](std::size_t n) {
    std::vector<float> part(n);
    return Object(codelet("Shared")).edge("x", part).count();
  };
  EXPECT_EQ(count(600) % 6, 0u);
  EXPECT_EQ(count(595), count(600));
  EXPECT_GT(count(601), count(600));
}

// Pi by the midpoint rule, as a public program measures it on a Bow IPU: 90,084 cycles for 1,000 steps.
TEST_F(Counting, PiByQuadratureIsExact) {
  Library library = compiled(R"(
    class MidpointPi : public Vertex {
     public:
      Input<unsigned> tile; Input<unsigned> steps; Input<float> width; Output<Vector<float>> sum; Output<Vector<unsigned>> cycles;
      bool compute() {
        float total = 0;
        const unsigned begin = __builtin_ipu_get_scount_l();
        for (unsigned i = tile * steps; i < (tile + 1) * steps; i++) {
          const float x = (i - 0.5f) * width;
          total += 4.0f / (1.0f + x * x);
        }
        const unsigned end = __builtin_ipu_get_scount_l();
        sum[0] = total;
        cycles[0] = end - begin;
        return true; } };)");
  const Codelet& c = *library.find("MidpointPi");
  for (unsigned n : {1, 10, 1000}) {
    std::vector<unsigned> tile = {3}, steps = {n}, cycles(1);
    std::vector<float> width = {1.0f / 1472000}, sum(1);
    Object(c).edge("tile", tile).edge("steps", steps).edge("width", width).edge("sum", sum).edge("cycles", cycles).run_counted();
    EXPECT_EQ(cycles[0], 90 * n + 84);
  }
}

// A failed assert() ends the run; code that goes on takes the slots of the comparison.
TEST_F(Counting, AssertsAreCounted) {
  Library library = compiled(R"(
    #include <cassert>
    #include <cstdlib>
    #include <pando/tile.hpp>
    class Plain : public Vertex {
     public:
      Input<Vector<float>> in; Output<Vector<float>> out;
      void compute() { for (unsigned i = 0; i < out.size(); ++i) out[i] = in[i]; } };
    class OfSizes : public Vertex {
     public:
      Input<Vector<float>> in; Output<Vector<float>> out;
      void compute() { assert(in.size() >= out.size()); for (unsigned i = 0; i < out.size(); ++i) out[i] = in[i]; } };
    class OfElements : public Vertex {
     public:
      Input<Vector<float>> in; Output<Vector<float>> out;
      void compute() { for (unsigned i = 0; i < out.size(); ++i) { assert(in[i] >= 0); out[i] = in[i]; } } };
    class Ends : public Vertex {
     public:
      Input<Vector<float>> in; Output<Vector<float>> out;
      void compute() {
        if (out.size() == 1) abort();
        if (out.size() == 2) pando::trap("two");
        for (unsigned i = 0; i < out.size(); ++i) out[i] = in[i]; } };)");
  const auto of = [&](const char* name, std::vector<float> in, std::size_t n) {
    std::vector<float> out(n);
    EXPECT_EQ(library.find(name)->uncounted, "") << name;
    return Object(*library.find(name)).edge("in", in).edge("out", out).count();
  };
  const std::vector<float> in(12, 1);
  EXPECT_EQ(library.find("OfSizes")->counting, CountedBy::sizes);
  EXPECT_EQ(library.find("OfElements")->counting, CountedBy::inputs);
  EXPECT_EQ(library.find("Ends")->counting, CountedBy::sizes);
  EXPECT_GT(of("OfSizes", in, 10), of("Plain", in, 10));
  EXPECT_EQ(of("OfSizes", in, 11) - of("OfSizes", in, 10), of("Plain", in, 11) - of("Plain", in, 10));
  EXPECT_GT(of("OfElements", in, 11) - of("OfElements", in, 10), of("Plain", in, 11) - of("Plain", in, 10));
  EXPECT_GT(of("Ends", in, 10), of("Plain", in, 10));
  // Counting does not end the process: the vertex will.
  EXPECT_LT(of("OfSizes", {1}, 2), of("OfSizes", in, 2));
  EXPECT_LT(of("OfElements", {-1, 1, 1}, 3), of("OfElements", in, 3));
  EXPECT_LT(of("Ends", in, 1), of("Plain", in, 10));
  EXPECT_LT(of("Ends", in, 2), of("Plain", in, 10));
}

TEST_F(Counting, ACodeletThatPrintsIsNotCounted) {
  const Library library = compiled(R"(
    #include <print.h>
    class Prints : public Vertex {
     public:
      Input<int> x;
      void compute() { printf("%d\n", *x); } };)");
  EXPECT_EQ(library.find("Prints")->uncounted.substr(0, 9), "it prints");
}

// Checks cost no cycles and no memory of the machine, and code that counts as it runs has them, too.
TEST_F(Counting, CheckedCodeCountsTheSame) {
  const char* source = R"(
    class Table : public Vertex {
     public:
      Input<Vector<float>> in; Output<Vector<float>> out;
      void compute() {
        const float table[4] = {1, 2, 3, 4};
        for (unsigned i = 0; i < out.size(); ++i) out[i] = in[i] * table[i % 5]; } };
    class Until : public Vertex {
     public:
      InOut<Vector<float>> x;
      void compute() { unsigned i = 0; while (x[i] < 100) x[i++] += 1; } };)";
  const Library plain = compiled(source), checked = compiled(source, "-O3 --checked");
  for (const char* name : {"Table", "Until"}) {
    EXPECT_EQ(plain.find(name)->counting, checked.find(name)->counting) << name;
    EXPECT_EQ(plain.find(name)->code_bytes, checked.find(name)->code_bytes) << name;
    EXPECT_EQ(plain.find(name)->stack_bytes, checked.find(name)->stack_bytes) << name;
  }
  ASSERT_EQ(plain.find("Until")->counting, CountedBy::run);
  const auto table = [](const Library& l) {
    std::vector<float> in(9), out(9);
    return Object(*l.find("Table")).edge("in", in).edge("out", out).count();
  };
  EXPECT_EQ(table(plain), table(checked));
  const auto until = [](const Library& l) {
    std::vector<float> x{1, 2, 3, 200};
    return Object(*l.find("Until")).edge("x", x).run_counted();
  };
  EXPECT_EQ(until(plain), until(checked));
  std::vector<float> x{1, 2, 3, 4};
  Object beyond(*checked.find("Until"));
  beyond.edge("x", x);
  EXPECT_THROW(beyond.run_counted(), poplar::application_runtime_error);
}

TEST_F(Counting, AFileWithoutItsCountersIsRejected) {
  const std::string source = write("a.cpp", std::string("#include <poplar/Vertex.hpp>\nusing namespace poplar;\n") + kVertices);
  GpFile gp = read_gp(run_popc({source}, "").gp, "a.gp");
  for (Codelet& c : gp.description.codelets)
    if (c.name == "Doubles") c.counting = CountedBy::sizes;
  Library library;
  EXPECT_THROW(library.load_bytes(write_gp(gp), "a.gp"), poplar::graph_object_load_error);
}

}  // namespace
}  // namespace pando
