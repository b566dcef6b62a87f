// The transposes that every graph has, beside two loops.
#include <gmock/gmock.h>

#include <random>
#include <sstream>

#include "poplar/Engine.hpp"
#include "poplar/IPUModel.hpp"
#include "pva/pva.hpp"

namespace {

using namespace poplar;
using namespace poplar::program;
using ::testing::HasSubstr;
using Bytes = std::vector<unsigned char>;

Bytes random_bytes(std::size_t n) {
  std::mt19937 random(7);
  Bytes out(n);
  for (unsigned char& b : out) b = static_cast<unsigned char>(random());
  return out;
}

Bytes transposed(const Bytes& in, std::size_t size, std::size_t rows, std::size_t columns) {
  Bytes out(in.size());
  for (std::size_t m = 0; m < in.size(); m += rows * columns * size)
    for (std::size_t r = 0; r < rows; ++r)
      for (std::size_t c = 0; c < columns; ++c)
        for (std::size_t b = 0; b < size; ++b) out[m + (c * rows + r) * size + b] = in[m + (r * columns + c) * size + b];
  return out;
}

struct Case {
  IPUModel model{"tiny4"};
  Device device = model.createDevice();
  Graph graph{device};
  Type type;
  std::size_t size;
  Tensor in, out;
  ComputeSet set = graph.addComputeSet("transpose");

  Case(const Type& t, std::size_t matrices, std::size_t elements)
      : type(t),
        size(graph.getTarget().getTypeSize(t)),
        in(graph.addVariable(t, {matrices, elements}, "in")),
        out(graph.addVariable(t, {matrices, elements}, "out")) {
    graph.setTileMapping(in, 1);
    graph.setTileMapping(out, 1);
    graph.createHostWrite("in", in);
    graph.createHostRead("out", out);
  }

  VertexRef vertex(const char* name) {
    const VertexRef v = graph.addVertex(set, std::string("poplar_rt::") + name + "<" + type.toString() + ">");
    graph.setTileMapping(v, 1);
    return v;
  }

  VertexRef flat(const char* name, std::size_t rows, std::size_t columns) {
    const VertexRef v = vertex(name);
    const std::size_t sub = size == 1 ? 8 : 4;
    graph.connect(v["src"], in.flatten());
    graph.connect(v["dst"], out.flatten());
    graph.setInitialValue(v["numSrcRowsD4Or8"], rows / sub);
    graph.setInitialValue(v["numSrcColumnsD4Or8"], columns / sub);
    return v;
  }

  void expect_transposed(std::size_t rows, std::size_t columns) {
    const Bytes source = random_bytes(in.numElements() * size);
    Bytes found(source.size());
    std::stringstream file;
    compileGraph(graph, {Execute(set)}).serialize(file);  // which has no file of these codelets
    Engine engine(Executable::deserialize(file));
    engine.load(device);
    engine.writeTensor("in", source.data(), source.data() + source.size());
    engine.run();
    engine.readTensor("out", found.data(), found.data() + found.size());
    EXPECT_EQ(found, transposed(source, size, rows, columns)) << type << " " << rows << " x " << columns;
  }
};

const Type kShort[] = {UNSIGNED_CHAR, HALF, SHORT, UNSIGNED_SHORT};

TEST(Transposes, OfOneWorker) {
  for (const Type& type : kShort)
    for (const std::size_t matrices : {1, 3}) {
      Case c(type, matrices, 24 * 40);
      c.graph.setInitialValue(c.flat("Transpose1DSingleWorker", 24, 40)["numTranspositionsM1"], matrices - 1);
      c.expect_transposed(24, 40);
    }
}

TEST(Transposes, OfSixWorkers) {
  for (const Type& type : kShort) {
    // All but two workers have one matrix less.
    Case c(type, 8, 8 * 16);
    const VertexRef v = c.flat("Transpose1D", 8, 16);
    c.graph.setInitialValue(v["numTranspositions"], 2);
    c.graph.setInitialValue(v["workerCount"], 2);
    c.expect_transposed(8, 16);
    // Fewer than workers.
    Case few(type, 4, 8 * 16);
    const VertexRef w = few.flat("Transpose1D", 8, 16);
    few.graph.setInitialValue(w["numTranspositions"], 1);
    few.graph.setInitialValue(w["workerCount"], 4);
    few.expect_transposed(8, 16);
  }
}

TEST(Transposes, OfPartsOfAMatrix) {
  for (const Type& type : kShort) {
    Case c(type, 1, 16 * 24);
    const VertexRef v = c.flat("SplitTranspose1D", 16, 24);
    // In blocks: the matrix has b rows and d columns of them; all rows of the first column, then the rest row by row.
    const unsigned sub = c.size == 1 ? 8 : 4;
    const auto b = static_cast<unsigned short>(16 / sub), d = static_cast<unsigned short>(24 / sub);
    std::vector<unsigned short> work = {0, 0, b, 1};
    // A part begins in row r * sub, column sub of src, and in row sub, column r * sub of dst; both are counted in sub elements.
    for (unsigned short r = 0; r < b; ++r)
      for (const unsigned n : {r * 24u + 1, 16u + r, 1u, d - 1u}) work.push_back(static_cast<unsigned short>(n));
    const Tensor list = c.graph.addConstant(UNSIGNED_SHORT, {work.size()}, work.data());
    c.graph.setTileMapping(list, 1);
    c.graph.connect(v["workList"], list);
    c.expect_transposed(16, 24);
  }
}

TEST(Transposes, OfMatricesOfTheirOwn) {
  for (const Type& type : {UNSIGNED_CHAR, HALF, SHORT, UNSIGNED_SHORT, FLOAT, INT, UNSIGNED_INT}) {
    for (const auto& [rows, columns] : {std::pair<unsigned, unsigned>{3, 5}, {16, 8}, {1, 7}}) {
      Case c(type, 3, rows * columns);
      const VertexRef v = c.vertex("Transpose2D");
      c.graph.connect(v["src"], {c.in[0], c.in[1], c.in[2]});
      c.graph.connect(v["dst"], {c.out[0], c.out[1], c.out[2]});
      c.graph.setInitialValue(v["numSrcRows"], rows);
      c.graph.setInitialValue(v["numSrcColumns"], columns);
      c.expect_transposed(rows, columns);
    }
  }
}

TEST(Transposes, TensorsThatAreTooShortEndTheRun) {
  Case c(HALF, 1, 64);
  c.graph.setInitialValue(c.flat("Transpose1DSingleWorker", 8, 8)["numTranspositionsM1"], 1);
  Engine engine(c.graph, Execute(c.set));
  engine.load(c.device);
  try {
    engine.run();
    FAIL() << "nothing was thrown";
  } catch (const application_runtime_error& e) {
    EXPECT_THAT(e.what(), HasSubstr("src of a transpose has 64 elements; its numbers of rows and columns need 128"));
    EXPECT_THAT(e.what(), HasSubstr("poplar_rt::Transpose1DSingleWorker<half>"));
  }
}

std::uint64_t cycles(const std::function<void(Case&)>& set_up) {
  Case c(HALF, 12, 16 * 16);
  set_up(c);
  Engine engine(c.graph, Execute(c.set));
  engine.load(c.device);
  engine.run();
  return engine.getReport().execution().totalCycles();
}

TEST(Transposes, HaveEstimatesThatUsersMayReplace) {
  const auto by_six = [](Case& c) {
    const VertexRef v = c.flat("Transpose1D", 16, 16);
    c.graph.setInitialValue(v["numTranspositions"], 2);
    c.graph.setInitialValue(v["workerCount"], 6);
  };
  const auto by_one = [](Case& c) { c.graph.setInitialValue(c.flat("Transpose1DSingleWorker", 16, 16)["numTranspositionsM1"], 11); };
  // 12 matrices of 512 bytes at 8 bytes a cycle; a worker has every sixth cycle of its tile.
  EXPECT_GE(cycles(by_one), 6 * 12 * 512 / 8u);
  EXPECT_LT(cycles(by_one), 2 * 6 * 12 * 512 / 8u);
  EXPECT_LT(cycles(by_six), cycles(by_one) / 4);
  EXPECT_GE(cycles([&](Case& c) {
              c.graph.registerPerfEstimator("poplar_rt::Transpose1D<half>", [](const VertexIntrospector&, const Target&) { return 54321; });
              by_six(c);
            }),
            54321u);
}

TEST(Transposes, OtherNamesAreUnknown) {
  Case c(FLOAT, 1, 16);
  EXPECT_THROW(c.vertex("Transpose1D"), unknown_vertex_type);
  EXPECT_EQ(c.graph.getMaxVertexFieldValue("poplar_rt::Transpose2D<float>", "numSrcRows"), 65535);
}

}  // namespace
