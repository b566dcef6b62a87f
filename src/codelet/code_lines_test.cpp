// Cycles by line of codelets that popc compiled with lines: they add up to the counted cycles, whatever these follow from.
#include "codelet/code_lines.h"

#include <map>
#include <numeric>

#include "codelet/library_test.h"

namespace pando {
namespace {

constexpr const char* kSource = R"(#include <poplar/Vertex.hpp>
using namespace poplar;
static float squared(float x) { return x * x; }
class LinesOfSizes : public Vertex {
 public:
  Input<Vector<float>> in;
  Output<Vector<float>> out;
  void compute() {
    for (unsigned i = 0; i < out.size(); ++i)
      out[i] = squared(in[i]) + 1.0f;

    if (in.size() > 100)
      out[0] = 0;
  }
};
class LinesOfInputs : public Vertex {
 public:
  Input<unsigned> n;
  Output<float> out;
  void compute() {
    float sum = 0;
    for (unsigned i = 0; i < *n; ++i)
      sum = sum * 0.5f + 1;
    *out = sum;
  }
};
class LinesOfRuns : public Vertex {
 public:
  InOut<Vector<float>> x;
  void compute() {
    for (unsigned i = 0; i < x.size(); ++i)
      while (x[i] > 1)
        x[i] *= 0.5f;
  }
};
class LinesOfWorkers : public MultiVertex {
 public:
  InOut<Vector<float>> x;
  void compute(unsigned worker) {
    for (unsigned i = worker; i < x.size(); i += numWorkers())
      x[i] += 1;
  }
};
class LinesOfNone : public Vertex {
 public:
  InOut<float> x;
  void compute() { *x = sinf(*x); }
};
)";

using Blocks = std::vector<std::uint64_t>;

PANDO_CALLS_CODELETS std::uint64_t call_count(const Codelet& c, const char* vertex) { return c.count(vertex); }
PANDO_CALLS_CODELETS std::uint64_t call_blocks(const CodeLines& lines, const char* vertex, Blocks& blocks) {
  return lines.count(vertex, blocks.data());
}
PANDO_CALLS_CODELETS std::uint64_t run_blocks(const CodeLines& lines, char* vertex, Blocks& blocks) {
  std::uint64_t at = 0, cycles = 0;
  lines.counted(vertex, 0, 1, &at, &cycles, blocks.data());
  return cycles;
}
PANDO_CALLS_CODELETS std::uint64_t run_counted(const Codelet& c, char* vertex) {
  std::uint64_t at = 0, cycles = 0;
  c.counted(vertex, 0, 1, &at, &cycles);
  return cycles;
}

class CodeLinesOf : public LibraryTest {
 protected:
  // Compiled once for all tests.
  Library library(const std::string& flags) {
    static std::map<std::string, Library> known;
    const auto [at, added] = known.try_emplace(flags);
    if (added) at->second.compile({{write("lines.cpp", kSource)}, ""}, flags, nullptr);
    return at->second;
  }
  static std::shared_ptr<const CodeLines> lines(const Library& l, const char* name) { return code_lines(l, l.id_of(name)); }
  static std::map<unsigned, std::uint64_t> by_line(const CodeLines& lines, const Blocks& blocks) {
    std::map<unsigned, std::uint64_t> out;
    for (std::size_t b = 0; b < blocks.size(); ++b)
      for (const LineSlots& s : lines.blocks[b]) out[lines.lines[s.line].line] += blocks[b] * s.slots;
    return out;
  }
  static std::uint64_t sum(const std::map<unsigned, std::uint64_t>& lines) {
    return std::accumulate(lines.begin(), lines.end(), std::uint64_t{0}, [](std::uint64_t n, const auto& l) { return n + l.second; });
  }
};

TEST_F(CodeLinesOf, SizesAddUp) {
  const Library with = library("-g"), without = library("");
  const auto table = lines(with, "LinesOfSizes");
  ASSERT_NE(table, nullptr);
  ASSERT_EQ(table->files.size(), 1u);
  EXPECT_THAT(table->files[0], testing::EndsWith("lines.cpp"));
  const Codelet& c = *with.find("LinesOfSizes");
  EXPECT_EQ(c.counting, CountedBy::sizes);
  std::map<unsigned, std::uint64_t> of_20;
  for (const std::uint64_t n : {0, 1, 20, 1000}) {
    std::vector<float> in(n + 1), out(n + 1);
    struct {
      VectorEdge in, out;
    } vertex{{in.data(), n}, {out.data(), n}};
    char* const v = reinterpret_cast<char*>(&vertex);
    Blocks blocks(table->blocks.size());
    const std::uint64_t cycles = call_blocks(*table, v, blocks);
    EXPECT_EQ(cycles, call_count(c, v));
    EXPECT_EQ(cycles, call_count(*without.find("LinesOfSizes"), v)) << "lines change what is counted";
    const auto by = by_line(*table, blocks);
    EXPECT_EQ(sum(by), cycles) << n;
    if (n == 20) of_20 = by;
  }
  // A round: the product in line 3, load, addition and store in line 10, the loop's own branch in line 9. Line 8: the vertex's entry and
  // exit, and what the loop needs before it begins.
  using Golden = std::map<unsigned, std::uint64_t>;
  EXPECT_EQ(of_20, (Golden{{3, 20}, {8, 7}, {9, 22}, {10, 60}, {12, 3}, {13, 0}, {14, 1}}));
  std::vector<std::string> texts;
  for (const CodeLine& l : table->lines)
    if (l.line >= 9 && l.line <= 12) texts.push_back(l.text);
  EXPECT_THAT(texts, ElementsAre("    for (unsigned i = 0; i < out.size(); ++i)", "      out[i] = squared(in[i]) + 1.0f;", "",
                                 "    if (in.size() > 100)"));
}

TEST_F(CodeLinesOf, InputsRunsAndWorkersAddUp) {
  const Library with = library("-g");
  {
    const auto table = lines(with, "LinesOfInputs");
    unsigned n = 7;
    float out = 0;
    struct {
      unsigned* n;
      float* out;
    } vertex{&n, &out};
    Blocks blocks(table->blocks.size());
    const std::uint64_t cycles = call_blocks(*table, reinterpret_cast<char*>(&vertex), blocks);
    EXPECT_EQ(cycles, call_count(*with.find("LinesOfInputs"), reinterpret_cast<char*>(&vertex)));
    EXPECT_EQ(sum(by_line(*table, blocks)), cycles);
    EXPECT_EQ(by_line(*table, blocks)[23] % 7, 0u);
  }
  {
    const auto table = lines(with, "LinesOfRuns");
    std::vector<float> a = {100, 3, 0.5f}, b = a;
    struct {
      VectorEdge x;
    } vertex{{a.data(), 3}}, plain{{b.data(), 3}};
    Blocks blocks(table->blocks.size());
    const std::uint64_t cycles = run_blocks(*table, reinterpret_cast<char*>(&vertex), blocks);
    EXPECT_EQ(cycles, run_counted(*with.find("LinesOfRuns"), reinterpret_cast<char*>(&plain)));
    EXPECT_EQ(a, b);
    EXPECT_EQ(sum(by_line(*table, blocks)), cycles);
  }
  {
    const auto table = lines(with, "LinesOfWorkers");
    std::vector<float> x(601);
    struct {
      VectorEdge x;
    } vertex{{x.data(), x.size()}};
    Blocks blocks(table->blocks.size());
    const std::uint64_t cycles = call_blocks(*table, reinterpret_cast<char*>(&vertex), blocks);
    EXPECT_EQ(cycles, call_count(*with.find("LinesOfWorkers"), reinterpret_cast<char*>(&vertex)));
    EXPECT_EQ(sum(by_line(*table, blocks)), cycles);
    EXPECT_EQ(blocks[0], 6u);  // all six workers take what the slowest takes
  }
}

TEST_F(CodeLinesOf, WithoutLinesThereAreNone) {
  const Library without = library(""), with = library("-g"), off = library("-g -fno-count");
  for (const char* name : {"LinesOfSizes", "LinesOfRuns"}) {
    EXPECT_EQ(lines(without, name), nullptr);
    EXPECT_EQ(lines(off, name), nullptr);
  }
  EXPECT_EQ(lines(with, "LinesOfNone"), nullptr);
  EXPECT_EQ(code_lines(with, CodeletId(99)), nullptr);
}

// As checked code has them, too.
TEST_F(CodeLinesOf, CheckedCodeHasThem) {
  const Library with = library("-g"), checked = with.checked();
  const auto a = lines(with, "LinesOfSizes"), b = lines(checked, "LinesOfSizes");
  ASSERT_TRUE(a && b);
  EXPECT_EQ(bytes_of(*a), bytes_of(*b));
  EXPECT_EQ(lines(library("").checked(), "LinesOfSizes"), nullptr);
}

TEST(CodeLinesBytes, WhatIsNoTableIsRejected) {
  CodeLines lines{{"a.cpp"}, {{0, 3, "x"}}, {{{0, 4}}}};
  const std::string bytes = bytes_of(lines);
  ASSERT_TRUE(code_lines_of(bytes));
  EXPECT_EQ(code_lines_of(bytes)->blocks[0][0].slots, 4u);
  for (std::size_t n = 0; n < bytes.size(); ++n) EXPECT_FALSE(code_lines_of(bytes.substr(0, n))) << n;
  lines.blocks[0][0].line = 1;
  EXPECT_FALSE(code_lines_of(bytes_of(lines)));
  lines.blocks[0][0].line = 0;
  lines.lines[0].file = 1;
  EXPECT_FALSE(code_lines_of(bytes_of(lines)));
}

}  // namespace
}  // namespace pando
