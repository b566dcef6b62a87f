// Loops of codelets for few iterations: the same bits as the loops that stand in the source, and masks where the target has them.
#include "codelet/library_test.h"

namespace pando {
namespace {

// One vertex per kind of loop; what it reads and writes lies anywhere, and may overlap.
constexpr const char* kLoops = R"(
    template <class T> class Saxpy : public Vertex {
     public:
      Input<Vector<T>> in; InOut<Vector<T>> out;
      void compute() { for (unsigned i = 0; i < out.size(); ++i) out[i] = in[i] * T(3) + out[i]; } };
    template class Saxpy<float>; template class Saxpy<double>; template class Saxpy<half>; template class Saxpy<int>;
    template class Saxpy<unsigned short>; template class Saxpy<unsigned char>; template class Saxpy<long long>;
    template <class I> class Counted : public Vertex {
     public:
      Input<Vector<float>> in; InOut<Vector<float>> out;
      void compute() { for (I i = 1; i < I(out.size()); ++i) out[i - 1] = in[i] - out[i]; } };
    template class Counted<int>; template class Counted<size_t>; template class Counted<unsigned short>; template class Counted<unsigned char>;
    class Widens : public Vertex {
     public:
      Input<Vector<half>> in; InOut<Vector<float>> out;
      void compute() { const half* a = &in[0]; float* b = &out[0]; for (float* end = b + out.size() / 2; b != end; ++a, ++b) *b = float(*a) + 0.5f * *b; } };
    class Selects : public Vertex {
     public:
      Input<Vector<int>> in; InOut<Vector<int>> out;
      void compute() { for (unsigned i = 0; i < out.size(); ++i) out[i] = in[i] < 0 ? 7 : (in[i] >> 1) + i; } };
    class Sums : public Vertex {
     public:
      Input<Vector<unsigned>> in; InOut<Vector<unsigned>> out;
      void compute() { unsigned sum = 5; for (unsigned i = 0; i < in.size(); ++i) sum += in[i] ^ i; if (out.size() > 0) out[0] = sum; } };
    class SumsInOrder : public Vertex {
     public:
      Input<Vector<float>> in; InOut<Vector<float>> out;
      void compute() { float sum = 0; for (unsigned i = 0; i < in.size(); ++i) sum += in[i]; if (out.size() > 0) out[0] = sum; } };
    class Ends : public Vertex {
     public:
      Input<Vector<int>> in; InOut<Vector<int>> out;
      void compute() { for (unsigned i = 0; i < out.size() && in[i] != 17; ++i) out[i] = in[i] / 3; } };
    class Backwards : public Vertex {
     public:
      Input<Vector<float>> in; InOut<Vector<float>> out;
      void compute() { for (int i = int(out.size()) - 1; i >= 0; --i) out[i] = in[i] + 1; } };
    class Strides : public Vertex {
     public:
      Input<Vector<int>> in; InOut<Vector<int>> out;
      void compute() { for (unsigned i = 0; i + 1 < out.size(); i += 2) { out[i] = in[i + 1] + 1; out[i + 1] = in[0]; } } };)";

const std::vector<std::pair<const char*, unsigned>> kVertices = {{"Saxpy<float>", 4},
                                                                 {"Saxpy<double>", 8},
                                                                 {"Saxpy<half>", 2},
                                                                 {"Saxpy<int>", 4},
                                                                 {"Saxpy<unsigned short>", 2},
                                                                 {"Saxpy<unsigned char>", 1},
                                                                 {"Saxpy<long long>", 8},
                                                                 {"Counted<int>", 4},
                                                                 {"Counted<unsigned long>", 4},
                                                                 {"Counted<unsigned short>", 4},
                                                                 {"Counted<unsigned char>", 4},
                                                                 {"Widens", 4},
                                                                 {"Selects", 4},
                                                                 {"Sums", 4},
                                                                 {"SumsInOrder", 4},
                                                                 {"Ends", 4},
                                                                 {"Backwards", 4},
                                                                 {"Strides", 4}};

using Bytes = std::vector<unsigned char>;

// The memory after one vertex: `in` begins at byte 512, `out` `distance` elements behind it.
Bytes after(const Codelet& c, unsigned width, unsigned count, int distance) {
  Bytes memory = some_bytes(4096);
  struct {
    VectorEdge in, out;
  } vertex = {{memory.data() + 512, count}, {memory.data() + 512 + distance * static_cast<int>(width), count}};
  EXPECT_TRUE(run(c, &vertex));
  return memory;
}

TEST_F(LibraryTest, ShortLoopsGiveTheSameBits) {
  const Library with = compiled(kLoops), without = compiled(kLoops, "-fno-short-loops");
  for (const auto& [name, width] : kVertices) {
    ASSERT_NE(with.find(name), nullptr) << name;
    for (unsigned count = 0; count <= 140; ++count)
      for (const int distance : {200, -1, 0, 1, 5, 17})
        ASSERT_EQ(after(*with.find(name), width, count, distance), after(*without.find(name), width, count, distance))
            << name << " of " << count << " elements, out " << distance << " behind in";
  }
}

TEST_F(LibraryTest, ShortLoopsMaskLanesWhereTheTargetCan) {
  const std::string source = write("saxpy.cpp", std::string("#include <poplar/Vertex.hpp>\nusing namespace poplar;\n") + R"(
    class Saxpy : public Vertex {
     public:
      Input<Vector<float>> in; InOut<Vector<float>> out;
      void compute() { for (unsigned i = 0; i < out.size(); ++i) out[i] = in[i] * 3 + out[i]; } };)");
  const auto has_masks = [&](const std::string& flags) {
    const std::string text = (folder_ / "saxpy.s").string();
    EXPECT_EQ(std::system((popc_ + " -S " + flags + " " + source + " -o " + text).c_str()), 0);
    std::ostringstream assembly;
    assembly << std::ifstream(text).rdbuf();
    return assembly.str().find("{%k") != std::string::npos;
  };
  EXPECT_TRUE(has_masks("-march=znver4"));
  EXPECT_TRUE(has_masks("-march=znver4 -O2"));
  EXPECT_FALSE(has_masks("-march=znver4 -fno-short-loops"));
  EXPECT_FALSE(has_masks("-march=znver4 -Os"));
  EXPECT_FALSE(has_masks("-march=haswell"));
}

}  // namespace
}  // namespace pando
