// Entries for vertices at equal strides: the same bits as over descriptors, and only for codelets that they are right and good for.
#include "codelet/library_test.h"

namespace pando {
namespace {

constexpr const char* kVertices = R"(
    template <class T> class Saxpy : public Vertex {
     public:
      Input<Vector<T>> in; const unsigned factor; InOut<Vector<T>> out;
      void compute() { for (unsigned i = 0; i < out.size(); ++i) out[i] = in[i] * T(factor) + out[i]; } };
    template class Saxpy<float>; template class Saxpy<half>; template class Saxpy<int>; template class Saxpy<unsigned char>;
    class Reduces : public Vertex {
     public:
      InOut<Vector<float>> out; Input<Vector<float>> in; const bool rounds;
      bool compute() {
        float sum = 0;
        for (unsigned i = 0; i < in.size(); ++i) sum += in[i];
        if (out.size() > 0) out[0] = rounds ? __builtin_roundf(sum) : sum;
        return sum < 900; } };
    class Pointers : public Vertex {
     public:
      Input<Vector<float, VectorLayout::ONE_PTR>> in; const unsigned short size; Output<Vector<float, VectorLayout::ONE_PTR>> out;
      void compute() { for (unsigned i = 0; i < size; ++i) out[i] = in[i] - 1; } };
    class Scalars : public Vertex {
     public:
      Input<int> in; InOut<int> out;
      void compute() { *out = *in > 100 ? *out - *in : *in; } };)";

// What a descriptor of these vertices has, in the order of their fields.
struct Form {
  const char* vertex;
  unsigned width;  // bytes of an element
  bool has_sizes = true;
};
const std::vector<Form> kForms = {{"Saxpy<float>", 4}, {"Saxpy<half>", 2},     {"Saxpy<int>", 4},    {"Saxpy<unsigned char>", 1},
                                  {"Reduces", 4},      {"Pointers", 4, false}, {"Scalars", 4, false}};

struct Result {
  std::vector<unsigned char> memory;
  bool all = false;
  std::uint64_t last = 0;
};

struct Grid {
  std::uint64_t inner = 1, outer = 1;
  unsigned elements = 0;
};

// Vertices in rows: of each, `in` and behind it `out`; a row's neighbours lie between the operands of others.
class Rows {
 public:
  Rows(const Codelet& c, const Form& form, const Grid& grid) : codelet_(c), grid_(grid), memory_(some_bytes(kBytes)) {
    const std::uint64_t operand = (grid.elements * form.width + 63) / 64 * 64 + 64;
    inner_ = static_cast<std::int64_t>(2 * operand);
    outer_ = static_cast<std::int64_t>(2 * operand * grid.inner + 192);
    descriptors_.resize(grid.inner * grid.outer * c.host_size);
    for (std::uint64_t v = 0; v < grid.inner * grid.outer; ++v) {
      unsigned char* at =
          memory_.data() + static_cast<std::int64_t>(v / grid.inner) * outer_ + static_cast<std::int64_t>(v % grid.inner) * inner_;
      for (const Field& f : c.fields) {
        char* const to = descriptors_.data() + v * c.host_size + f.host_offset;
        if (!f.is_edge()) {
          const std::uint32_t value = f.name == "size" ? grid.elements : f.name == "rounds" ? 1 : 3;
          std::memcpy(to, &value, f.host_size);
          continue;
        }
        std::memcpy(to, &at, sizeof at);
        const std::uint64_t size = grid.elements;
        if (form.has_sizes) std::memcpy(to + sizeof at, &size, sizeof size);
        at += operand;
      }
    }
  }

  PANDO_CALLS_CODELETS Result over_list() {
    Result out;
    out.all = codelet_.kernel(descriptors_.data(), codelet_.host_size, grid_.inner * grid_.outer, &out.last);
    out.memory = memory_;
    return out;
  }
  PANDO_CALLS_CODELETS Result in_strides() {
    const EdgeStride strides[] = {{inner_, outer_}, {inner_, outer_}};
    Result out;
    out.all = codelet_.strided(descriptors_.data(), strides, grid_.inner, grid_.outer, &out.last);
    out.memory = memory_;
    return out;
  }

 private:
  static constexpr std::size_t kBytes = 1 << 17;
  const Codelet& codelet_;
  const Grid grid_;
  std::vector<unsigned char> memory_;
  std::vector<char> descriptors_;
  std::int64_t inner_ = 0, outer_ = 0;
};

TEST_F(LibraryTest, StridedVerticesGiveTheSameBits) {
  const Library library = compiled(kVertices);
  for (const Form& form : kForms) {
    const Codelet* c = library.find(form.vertex);
    ASSERT_TRUE(c && c->strided) << form.vertex;
    for (const unsigned elements : {0u, 1u, 2u, 3u, 7u, 16u, 17u, 33u, 140u})
      for (const Grid grid :
           {Grid{1, 1, elements}, Grid{6, 1, elements}, Grid{1, 9, elements}, Grid{6, 7, elements}, Grid{5, 3, elements}}) {
        const Result list = Rows(*c, form, grid).over_list(), strided = Rows(*c, form, grid).in_strides();
        ASSERT_EQ(list.memory, strided.memory) << form.vertex << ", " << elements << " elements, " << grid.inner << " x " << grid.outer;
        ASSERT_EQ(list.all, strided.all) << form.vertex;
        ASSERT_EQ(list.last, strided.last) << form.vertex;
      }
  }
}

TEST_F(LibraryTest, StridedVerticesAreOfCodeThatLeavesItsFieldsAlone) {
  // Vertices of one module, in their order: starting the compiler is what takes time.
  const auto have_entries = [&](const std::vector<std::string>& vertices, const std::string& flags) {
    std::string text = "float shared = 1;\n";
    for (std::size_t i = 0; i < vertices.size(); ++i)
      text += "class V" + std::to_string(i) + " : public Vertex {\n public:\n" + vertices[i] + "};\n";
    const Library library = compiled(text, flags);
    std::vector<bool> all;
    for (std::size_t i = 0; i < vertices.size(); ++i) {
      const Codelet* const c = library.find("V" + std::to_string(i));
      EXPECT_NE(c, nullptr) << vertices[i];
      all.push_back(c && c->strided);
    }
    return all;
  };
  const std::string plain = "Output<Vector<float>> out; void compute() { for (auto& x : out) x = 1.5f * x + 2; }\n";
  for (const char* flags : {"-O2", "-Os"}) EXPECT_THAT(have_entries({plain}, flags), ElementsAre(true)) << flags;
  for (const char* flags : {"-O0", "-g", "-fno-strided", "-ffast-math", "-ffp-contract=fast"})
    EXPECT_THAT(have_entries({plain}, flags), ElementsAre(false)) << flags;
  std::string longer = "Output<Vector<int>> out; void compute() { int x = out[0];";
  for (int i = 0; i < 300; ++i) longer += " x = x * " + std::to_string(2 * i + 3) + " ^ (x >> " + std::to_string(i % 7 + 1) + ");";
  const std::vector<std::string> vertices = {
      plain,
      "Output<Vector<float>> out; unsigned calls; void compute() { out[0] = ++calls; }\n",
      "Output<float> out; unsigned calls; __attribute__((noinline)) void note() { ++calls; } void compute() { note(); *out = 1; }\n",
      "Vector<Output<Vector<float>>> out; void compute() { out[0][0] = 1; }\n",
      "Output<float> out; void compute() { *out = shared += 1; }\n",  // runs tile by tile
      "Output<Vector<float>> out; void compute() { float a[64]; for (unsigned i = 0; i < 64; ++i) a[i] = out[i % 9];"
      "for (unsigned i = 0; i < 64; ++i) out[i] = a[unsigned(a[i]) % 64]; }\n",  // its array is in memory
      longer + " out[0] = x; }\n"};
  const std::vector<bool> entries = have_entries(vertices, "");
  for (std::size_t i = 0; i < vertices.size(); ++i) EXPECT_EQ(entries[i], i == 0) << vertices[i];
}

TEST_F(LibraryTest, StridedMultiVerticesHaveNoEntry) {
  const Library library = compiled(R"(class M : public MultiVertex {
     public: Output<Vector<float>> out; void compute(unsigned worker) { out[worker] = worker; } };)");
  EXPECT_EQ(library.find("M")->strided, nullptr);
}

}  // namespace
}  // namespace pando
