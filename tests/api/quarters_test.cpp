// Quarters: their metadata on the host, in tensors and in codelets.
#include <gtest/gtest.h>
#include <poplar/MetadataCreation.hpp>
#include <poplar/TypeConversion.hpp>
#include <poplar/exceptions.hpp>

#include <sstream>

#include "setting.h"

namespace api {
namespace {

using namespace poplar;
using namespace poplar::program;

template <class Error, class F>
void expect_error(const F& f, const char* text) {
  try {
    f();
    FAIL() << "expected an error with: " << text;
  } catch (const Error& e) { EXPECT_NE(std::string(e.what()).find(text), std::string::npos) << e.what(); }
}

constexpr const char* kQuarterEdges = R"(
  #include <poplar/QuarterFloat.hpp>
  #include <poplar/Vertex.hpp>
  using namespace poplar;
  class OfEveryShape : public Vertex {
   public:
    Input<quarter> one;
    Input<Vector<quarter>> some;
    Vector<Input<Vector<quarter>>> rows;
    Vector<Input<quarter>> singles;
    Input<VectorList<quarter, VectorListLayout::DELTANELEMENTS>> list;
    Output<Vector<float>> out;
    void compute() {
      unsigned n = 0;
      out[n++] = toFloat(*one, unpackMetadata(one.getMetadata()));
      for (unsigned i = 0; i < some.size(); ++i) out[n++] = toFloat(some[i], unpackMetadata(some.getMetadata()));
      for (const auto& row : rows)
        for (quarter q : row) out[n++] = toFloat(q, unpackMetadata(rows.getMetadata()));
      for (unsigned i = 0; i < singles.size(); ++i) out[n++] = toFloat(*singles[i], unpackMetadata(singles.getMetadata()));
      for (unsigned i = 0; i < list.size(); ++i)
        for (unsigned j = 0; j < list[i].size(); ++j) out[n++] = toFloat(list[i][j], unpackMetadata(list.getMetadata()));
    }
  };
  template <class T>
  class Encode : public Vertex {
   public:
    Input<Vector<float>> in;
    Output<Vector<T>> out;
    void compute() {
      for (unsigned i = 0; i < in.size(); ++i) out[i] = toQuarter(in[i], unpackMetadata(out.getMetadata()));
    }
  };
  template class Encode<quarter>;)";

TEST(Quarters, MetadataIsTheSameByteOnHostAndDevice) {
  Setting s;
  std::stringstream source(R"(
    #include <poplar/QuarterFloat.hpp>
    #include <poplar/Vertex.hpp>
    class Unpack : public poplar::Vertex {
     public:
      poplar::Input<unsigned char> packed;
      poplar::Output<poplar::Vector<int>> out;
      void compute() {
        const unsigned char byte = packed;
        const poplar::quarter_metadata m = poplar::unpackMetadata(&byte);
        out[0] = m.fmt == poplar::quarter_metadata::f143;
        out[1] = m.scale;
      }
    };)");
  s.graph.addCodelets(source);
  struct Row {
    QuarterMetadata::Format format;
    int scale;
  };
  const std::vector<Row> rows = {
      {QuarterMetadata::Format::F143, 0}, {QuarterMetadata::Format::F152, -32}, {QuarterMetadata::Format::F143, 31}};
  std::vector<Tensor> outs;
  for (const Row& row : rows) {
    const Tensor m = createConstantMetadataTensor(s.graph, row.format, row.scale);
    EXPECT_EQ(m.elementType(), QUARTER_METADATA);
    s.graph.setTileMapping(m, 0);
    const Tensor byte = s.graph.addConstant<unsigned>(UNSIGNED_CHAR, {}, QuarterMetadata(row.format, row.scale).getBinary());
    s.graph.setTileMapping(byte, 0);
    outs.push_back(s.variable(INT, {2}, "out"));
    s.graph.setTileMapping(s.graph.addVertex(s.set, "Unpack", {{"packed", byte}, {"out", outs.back()}}), 0);
    const Tensor q = s.graph.addVariable(QUARTER, m, {3}, "q");
    s.graph.setTileMapping(q, 0);
    EXPECT_TRUE(q.slice(1, 3).hasMetadata());
    EXPECT_EQ(q.reverse(0).getMetadata(), m);
  }
  s.program.add(Execute(s.set));
  s.graph.createHostRead("out", concat(outs));
  Engine engine = s.loaded();
  engine.run();
  std::vector<int> out(6);
  engine.readTensor("out", out.data(), out.data() + 6);
  EXPECT_EQ(out, (std::vector<int>{1, 0, 0, -32, 1, 31}));
}

TEST(Quarters, AnInvalidMetadataTensorIsNone) {
  Setting s;
  const Tensor numbers = s.graph.addVariable(FLOAT, Tensor(), {3}, "numbers");
  EXPECT_EQ(numbers.elementType(), FLOAT);
  EXPECT_FALSE(numbers.hasMetadata());
  EXPECT_FALSE(numbers.getMetadata().valid());
  EXPECT_EQ(s.graph.clone(INT, numbers.getMetadata(), numbers).elementType(), INT);
  EXPECT_EQ(s.graph.addConstant(FLOAT, numbers.getMetadata(), {2}, 1.5f).numElements(), 2u);
  EXPECT_EQ(s.graph.addVariable(FLOAT, {}, std::vector<std::size_t>{2, 3}, DebugContext("more")).shape(), (std::vector<std::size_t>{2, 3}));
  EXPECT_TRUE(s.graph.addVariable(QUARTER, Tensor(), {3}).hasMetadata());  // one of its own
}

TEST(Quarters, ConstantsOfMetadataThatAProgramSetsAreZero) {
  Setting s;
  const Tensor metadata = s.variable(QUARTER, {1}, "q").getMetadata();
  const Tensor zeros = s.graph.addConstant(QUARTER, metadata, {2, 3}, 0);
  EXPECT_EQ(zeros.getMetadata(), metadata);
  EXPECT_EQ(s.graph.addConstant(QUARTER, metadata, {0}, 1.0f).numElements(), 0u);
  expect_error<tensor_creation_error>([&] { s.graph.addConstant<float>(QUARTER, metadata, {2}, {0, 1}); }, "q/metadata");
}

TEST(Quarters, TheirBitsHaveNoMetadata) {
  Setting s;
  const Tensor q = s.variable(QUARTER, {3}, "q"), bits = q.reinterpret(UNSIGNED_CHAR);
  EXPECT_FALSE(bits.hasMetadata());
  EXPECT_FALSE(bits.getMetadata().valid());
  EXPECT_FALSE(bits.reinterpret(QUARTER).hasMetadata());
  EXPECT_EQ(q.reinterpret(QUARTER).getMetadata(), q.getMetadata());
}

TEST(Quarters, HandlesOfMetadataTakeThemAsTheyAre) {
  Setting s;
  const Tensor metadata = s.variable(QUARTER, {1}, "q").getMetadata();
  s.graph.createHostWrite("in", metadata);
  s.graph.createHostRead("out", metadata);
  Engine engine = s.loaded();
  const QuarterMetadata want[1] = {QuarterMetadata(QuarterMetadata::Format::F143, -5)};
  QuarterMetadata found[1];
  engine.writeTensor("in", want, want + 1);
  engine.readTensor("out", found, found + 1);
  EXPECT_EQ(found[0], want[0]);
}

TEST(Quarters, EdgesKnowTheMetadataOfTheirTensors) {
  Setting s;
  std::stringstream source(kQuarterEdges);
  s.graph.addCodelets(source);
  const auto constants = [&](std::size_t n, int scale) {  // of 1
    const Tensor m = createConstantMetadataTensor(s.graph, QuarterMetadata::Format::F143, scale);
    const Tensor t = s.graph.addConstant(QUARTER, m, {n}, 1.0f);
    const Tensor other = s.graph.addVariable(QUARTER, createConstantMetadataTensor(s.graph, QuarterMetadata::Format::F143, scale + 1), {n});
    s.graph.setTileMapping(t, 1);
    s.graph.setTileMapping(other, 1);
    s.program.add(Copy(t, other));  // the same bits mean twice as much
    return other;
  };
  const Tensor out = s.variable(FLOAT, {9}, "out"), rows = constants(3, 2), list = constants(2, 4);
  const VertexRef v = s.graph.addVertex(s.set, "OfEveryShape");
  s.graph.connect(v["one"], constants(1, 0)[0]);
  s.graph.connect(v["some"], constants(2, 1));
  s.graph.connect(v["rows"][0], rows.slice(0, 1));
  s.graph.connect(v["rows"][1], rows.slice(1, 3));
  s.graph.connect(v["singles"], constants(1, 3));
  s.graph.connect(v["list"], std::vector<Tensor>{list.slice(0, 1), list.slice(1, 2)});
  s.graph.connect(v["out"], out);
  s.graph.setTileMapping(v, 2);
  s.program.add(Execute(s.set));
  s.graph.createHostRead("out", out);
  Engine engine = s.loaded();
  engine.run();
  std::vector<float> seen(9);
  engine.readTensor("out", seen.data(), seen.data() + 9);
  EXPECT_EQ(seen, std::vector<float>(9, 2));  // each field's numbers have other bits
}

TEST(Quarters, HaveMetadataThatTheHostWritesAndReads) {
  Setting s;
  std::stringstream source(kQuarterEdges);
  s.graph.addCodelets(source);
  const Tensor in = s.graph.addConstant<float>(FLOAT, {2}, {3, 48});
  s.graph.setTileMapping(in, 0);
  const Tensor out = s.variable(QUARTER, {2}, "out"), also = s.graph.clone(out);
  EXPECT_EQ(out.getMetadata().elementType(), QUARTER_METADATA);
  s.graph.setTileMapping(s.graph.addVertex(s.set, "Encode<quarter>", {{"in", in}, {"out", out}}), 0);
  s.program.add(Execute(s.set));
  s.graph.createHostWrite("out", out);
  s.graph.createHostRead("out", out);
  s.graph.createHostRead("also", also);
  Engine engine = s.loaded();
  for (const QuarterMetadata want :
       {QuarterMetadata(QuarterMetadata::Format::F152, 3), QuarterMetadata(QuarterMetadata::Format::F143, -1)}) {
    unsigned char bytes[2] = {};
    engine.writeTensor("out", want, bytes, bytes + 2);
    engine.run();
    QuarterMetadata found, found_also;
    engine.readTensor("out", found, bytes, bytes + 2);
    EXPECT_EQ(found, want);
    float values[2];
    convertFromDeviceType(QUARTER, found, bytes, values, 2);
    EXPECT_EQ(values[0], 3);
    EXPECT_EQ(values[1], 48);
    engine.readTensor("also", found_also, bytes, bytes + 2);  // a clone of quarters means what they mean
    EXPECT_EQ(found_also, want);
  }
}

TEST(Quarters, ScalesThatAreKnownAtRunTime) {
  const auto format = QuarterMetadata::Format::F143;
  Setting s;
  const Tensor scale = s.variable(INT, {}, "scale");
  const Tensor metadata = createVariableMetadataTensor(s.graph, format, scale, s.program);
  s.graph.createHostWrite("scale", scale);
  s.graph.createHostRead("metadata", metadata);
  Engine engine = s.loaded();
  const auto of_scale = [&](int value) {
    engine.writeTensor("scale", &value, &value + 1);
    engine.run();
    unsigned char binary = 0;
    engine.readTensor("metadata", &binary, &binary + 1);
    return binary;
  };
  for (const int value : {-32, -1, 0, 7, 31}) EXPECT_EQ(of_scale(value), QuarterMetadata(format, value).getBinary()) << value;
  Setting chars;
  const Tensor small = chars.variable(SIGNED_CHAR, {1}, "small", 2);
  const Tensor of_small = createVariableMetadataTensor(chars.graph, format, small, chars.program);
  chars.graph.createHostWrite("small", small);
  chars.graph.createHostRead("metadata", of_small);
  Engine of_chars = chars.loaded();
  for (const signed char value : {-32, 31}) {
    QuarterMetadata found;
    of_chars.writeTensor("small", &value, &value + 1);
    of_chars.run();
    of_chars.readTensor("metadata", &found, &found + 1);
    EXPECT_EQ(found, QuarterMetadata(format, value));
  }
  expect_error<type_error>([&] { createVariableMetadataTensor(s.graph, format, metadata, s.program); }, "control");
  EXPECT_THROW(of_scale(32), poplar_error);
}

TEST(Quarters, EdgesRejectTensorsWithoutOneMetadata) {
  Setting s;
  std::stringstream source(kQuarterEdges);
  s.graph.addCodelets(source);
  const VertexRef v = s.graph.addVertex(s.set, "OfEveryShape");
  const Tensor a = s.variable(QUARTER, {2}, "a"), b = s.variable(QUARTER, {2}, "b");
  const Tensor bits = s.variable(UNSIGNED_CHAR, {2}, "bits").reinterpret(QUARTER);
  expect_error<graph_connection_error>([&] { s.graph.connect(v["some"], bits); }, "has no metadata");
  expect_error<graph_connection_error>([&] { s.graph.connect(v["rows"], std::vector<Tensor>{a, b}); }, "row 1 of OfEveryShape.rows");
  s.graph.connect(v["rows"][0], a);
  s.graph.connect(v["rows"][1], a.reverse(0));
  expect_error<graph_connection_error>([&] { s.graph.connect(v["rows"][1], b); }, "a field has one metadata");
}

}  // namespace
}  // namespace api
