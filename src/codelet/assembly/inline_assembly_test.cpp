// Inline assembly of workers in C++ codelets: operands, the vertex's state, accumulators that last, cycles.
#include "codelet/assembly/assembly_test.h"

namespace pando {
namespace {

constexpr const char* kVertices = R"V(
class Or3 : public Vertex {
 public:
  InOut<Vector<int>> input;
  Output<Vector<int>> output;
  bool compute() {
    int n = output.size();
    asm volatile(R"(
        ld32 %[n], $m0, $m15, 3
        brz %[n], .done
        mov %[n], $m15
        ld32 $m3, $m0, $m15, 0
        ld32 $m2, $m0, $m15, 2
        add $m3, $m3, 8
    .step:
        add $m4, $m15, -8
        add $m5, $m15, -4
        ld32 $m4, $m3, $m4, 0
        ld32 $m5, $m3, $m5, 0
        or $m4, $m5, $m4
        ld32step $m5, $m15, $m3+=, 3
        or $m4, $m5, $m4
        st32step $m4, $m15, $m2+=, 1
        add %[n], %[n], 1
        ld32 $m4, $m0, $m15, 3
        cmpult $m4, %[n], $m4
        brnz $m4, .step
    .done:
    )" : [n] "+r"(n)::);
    return n == static_cast<int>(output.size());
  }
};
static float2 scaled_sum(float2 x, float2 y) {
  float2 out;
  asm volatile("{ nop ; f32v2axpy $azeros, %[x], %[y] }\n f32v2axpy %[out], $azeros, $azeros"
               : [out] "=r"(out) : [x] "r"(x), [y] "r"(y));
  return out;
}
class Axpy : public Vertex {
 public:
  Input<Vector<float, VectorLayout::SPAN, 8>> x;
  InOut<Vector<float, VectorLayout::SPAN, 8>> y;
  float scale;
  void compute() {
    asm volatile("uput $TAS, %[s]" :: [s] "r"(scale));
    auto* from = reinterpret_cast<const float2*>(&x[0]);
    auto* to = reinterpret_cast<float2*>(&y[0]);
    for (unsigned i = 0; i < y.size() / 2; ++i) to[i] = scaled_sum(from[i], to[i]);
  }
};
class ByAddress : public Vertex {
 public:
  Input<Vector<unsigned>> x;
  Output<unsigned> sum;
  void compute() {
    const unsigned* p = &x[0];
    unsigned total = 0, value;
    for (unsigned i = 0; i < x.size(); ++i) {
      asm volatile("ld32step %[v], $mzero, %[p]+=, 1" : [v] "=r"(value), [p] "+r"(p));
      total += value;
    }
    *sum = total + (p == &x[0] + x.size());
  }
};

// y = a + b by packed addresses; the registers that the text names are in the clobber list.
class ByPackedAddresses : public Vertex {
 public:
  Input<Vector<float, VectorLayout::SPAN, 8>> a, b;
  Output<Vector<float, VectorLayout::SPAN, 8>> y;
  void compute() {
    uint2 packed = __builtin_ipu_tapack(&a[0], &b[0], &y[0]);
    const unsigned pairs = y.size() / 2;
    asm volatile(R"(
      nop
      rpt %[pairs], (2f - 1f) / 8 - 1
    1:
      { ld2x64pace $a0:1, $a2:3, %[packed]+=, $mzero, 0
        fnop }
      { nop
        f32v2add $a0:1, $a0:1, $a2:3 }
      { st64pace $a0:1, %[packed]+=, $mzero, 0
        fnop }
    2:
      )" : [packed] "+r"(packed) : [pairs] "r"(pairs) : "$a0", "$a1", "$a2:3", "memory");
  }
};)V";

class InlineAssembly : public Assembly {
 protected:
  const Codelet& codelet(const char* name) {
    static const Library library = compiled(kVertices);
    return *library.find(name);
  }
};

TEST_F(InlineAssembly, TheFirstRegisterIsTheVertexsState) {
  AssembledVertex v(codelet("Or3"));
  const auto in = v.edge<int>("input", 9), out = v.edge<int>("output", 3);
  for (unsigned i = 0; i < 9; ++i) in[i] = 1 << i;
  EXPECT_TRUE(v.run());
  EXPECT_THAT(std::vector<int>(out.begin(), out.end()), ElementsAre(7, 56, 448));
}

TEST_F(InlineAssembly, AccumulatorsLastFromStatementToStatement) {
  AssembledVertex v(codelet("Axpy"));
  const auto x = v.edge<float>("x", 6), y = v.edge<float>("y", 6);
  for (unsigned i = 0; i < 6; ++i) x[i] = static_cast<float>(i), y[i] = 10;
  v.state("scale", 3.0f);
  EXPECT_TRUE(v.run());
  for (unsigned i = 0; i < 6; ++i) EXPECT_EQ(y[i], 3.0f * static_cast<float>(i) + 10);
}

TEST_F(InlineAssembly, AddressesGoThereAndBack) {
  AssembledVertex v(codelet("ByAddress"));
  const auto x = v.edge<unsigned>("x", 5), sum = v.edge<unsigned>("sum", 1);
  for (unsigned i = 0; i < 5; ++i) x[i] = i + 1;
  EXPECT_TRUE(v.run());
  EXPECT_EQ(sum[0], 16u);
}

TEST_F(InlineAssembly, PackedAddressesAndClobberedRegisters) {
  AssembledVertex v(codelet("ByPackedAddresses"));
  const auto a = v.edge<float>("a", 8), b = v.edge<float>("b", 8), y = v.edge<float>("y", 8);
  for (unsigned i = 0; i < 8; ++i) a[i] = static_cast<float>(i), b[i] = 10;
  EXPECT_TRUE(v.run());
  for (unsigned i = 0; i < 8; ++i) EXPECT_EQ(y[i], static_cast<float>(i) + 10);
}

// Each round of Or3 is twelve instructions; six come before the first.
TEST_F(InlineAssembly, ItsInstructionsAreCounted) {
  const auto slots = [&](std::size_t n) {
    AssembledVertex v(codelet("Or3"));
    v.edge<int>("input", 3 * n), v.edge<int>("output", n);
    return v.run_counted();
  };
  EXPECT_EQ(codelet("Or3").counting, CountedBy::run) << codelet("Or3").uncounted;
  EXPECT_EQ(slots(5) - slots(2), 3u * 12);
}

}  // namespace
}  // namespace pando
