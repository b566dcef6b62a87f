// What codelets of public programs are written in: vector types in names, fields as vectors, builtin functions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "setting.h"

namespace api {
namespace {

using namespace poplar;
using namespace poplar::program;

struct Language : Setting {
  Language() { graph.addCodelets(codelet_file("language.cpp")); }
  // Runs one vertex with these tensors and returns the values of the last one.
  template <class T>
  std::vector<T> run(const char* type, const std::vector<Graph::ConnectionDesc>& fields, const Tensor& result, unsigned tile = 0) {
    graph.setTileMapping(graph.addVertex(set, type, fields), tile);
    graph.createHostRead("result", result);
    program.add(Execute(set));
    Engine engine = loaded();
    engine.run();
    std::vector<T> values(result.numElements());
    engine.readTensor("result", values.data(), values.data() + values.size());
    return values;
  }
};

TEST(Language, NamesOfVectorTypes) {
  const std::pair<const char*, float> cases[] = {{"VectorNamed<float,float2>", 3 + 8},
                                                 {"VectorNamed<unsigned char, uchar4>", 3 + 4},
                                                 {"VectorNamed<long long,longlong2>", 3 + 16},
                                                 {"VectorNamed<half,half4>", 3 + 8}};
  for (const auto& [name, expected] : cases) {
    Language s;
    const Tensor out = s.variable(FLOAT, {}, "out");
    EXPECT_THAT(s.run<float>(name, {{"out", out}}, out), testing::ElementsAre(expected)) << name;
  }
}

TEST(Language, FieldsAreVectors) {
  Language s;
  const Tensor in = s.variable(FLOAT, {3}, "in"), both = s.variable(FLOAT, {4}, "both"), out = s.variable(FLOAT, {2}, "out");
  s.graph.setInitialValue<float>(in, {1, 2, 4});
  s.graph.setInitialValue<float>(both, {1, 2, 3, 4});
  EXPECT_THAT(s.run<float>("FieldsAsVectors", {{"in", in}, {"both", both}, {"out", out}}, concat(both, out)),
              testing::ElementsAre(2, 6, 12, 20, 15, 15));
}

// What a program declares is meant, before the headers and after them; what it does not is theirs.
TEST(Language, OwnTypesOfTheHeadersNames) {
  for (const char* flags : {"-DTYPES_FIRST", ""}) {
    Language s;
    s.graph.addCodelets(codelet_file("own_types.cpp"), CodeletFileType::Auto, flags);
    const Tensor in = s.variable(FLOAT, {4}, "in"), out = s.variable(FLOAT, {8}, "out");
    s.graph.setInitialValue<float>(in, {1, 2, 3, 4});
    EXPECT_THAT(s.run<float>("OwnTypes<Several<float,2>>", {{"in", in}, {"out", out}}, out),
                testing::ElementsAre(10, 16, 1, 6, 2, 16, 2.5f, 3))
        << flags;
  }
}

TEST(Language, ArithmeticBuiltins) {
  Language s;
  const Tensor in = s.variable(FLOAT, {4}, "in"), out = s.variable(FLOAT, {25}, "out");
  s.graph.setInitialValue<float>(in, {1.5f, -2, 3, 0.25f});
  EXPECT_THAT(s.run<float>("Builtins", {{"in", in}, {"out", out}}, out),
              testing::ElementsAre(1.5f, -2, 2, 3.5f, 2.5f, 3, 0, 7, 2.5f, 1, 0, 0.5f, 3, 0x00020001, 0x0403, 0x8001, 0x0201, 7, 0, 1,
                                   0.333251953125f, 0, 2, 2.5f, -1));
}

TEST(Language, RandomBuiltins) {
  std::vector<float> first;
  for (const unsigned tile : {0u, 0u, 2u}) {
    Language s;
    const Tensor out = s.variable(FLOAT, {7}, "out", tile);
    const std::vector<float> v = s.run<float>("RandomNumbers", {{"out", out}}, out, tile);
    EXPECT_NEAR(v[0], 0, 0.01);
    EXPECT_NEAR(v[1], 1.0 / 12, 0.002);
    EXPECT_NEAR(v[2], 0, 0.02);
    EXPECT_NEAR(v[3], 1, 0.03);
    EXPECT_GE(v[4], -0.5f);
    EXPECT_LT(v[4], -0.499f);
    EXPECT_LT(v[5], 0.5f);
    EXPECT_GT(v[5], 0.499f);
    EXPECT_EQ(v[6], static_cast<float>(tile));
    if (first.empty()) first = v;
    EXPECT_EQ(v == first, tile == 0);  // the same in each run, another sequence on each tile
  }
}

TEST(Language, TheCounterGoesOn) {
  Language s;
  const Tensor out = s.variable(UNSIGNED_INT, {2}, "out");
  EXPECT_THAT(s.run<unsigned>("Counter", {{"out", out}}, out), testing::ElementsAre(0u, testing::Gt(0u)));
}

TEST(Language, AWorkerKnowsItsNumber) {
  Language s;
  const Tensor out = s.variable(UNSIGNED_INT, {6}, "out");
  EXPECT_THAT(s.run<unsigned>("Workers", {{"out", out}}, out), testing::ElementsAre(0, 11, 22, 33, 44, 55));
}

}  // namespace
}  // namespace api
