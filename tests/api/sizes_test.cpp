// Sizes that wrap around, and sizes that no host can hold: errors at every entry point that takes a size.
#include <gtest/gtest.h>
#include <poplar/exceptions.hpp>

#include <functional>

#include "setting.h"

namespace api {
namespace {

using namespace poplar;
using namespace poplar::program;

constexpr std::size_t kTwo32 = std::size_t{1} << 32, kTwo62 = std::size_t{1} << 62, kTwo63 = std::size_t{1} << 63, kMost = ~std::size_t{0};

struct Row {
  const char* name;
  std::function<void()> use;
};

template <class E>
void expect_rejected(const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    try {
      row.use();
      ADD_FAILURE() << row.name << ": nothing was thrown";
    } catch (const E&) {
    } catch (const std::exception& e) { ADD_FAILURE() << row.name << ": " << typeid(e).name() << ": " << e.what(); }
  }
}

TEST(Sizes, ShapesDoNotWrapAround) {
  Setting s;
  Graph& g = s.graph;
  const Tensor x = s.variable(FLOAT, {2, 3}, "x"), none = s.variable(FLOAT, {0, 5}, "none");
  const std::vector<std::vector<std::size_t>> shapes = {{kTwo32, kTwo32}, {kTwo63, 2},         {kTwo62, 4, 1},
                                                        {kMost, kMost},   {kTwo32, kTwo32, 0}, {kTwo63 + 3, 2},
                                                        {1, kMost},       {0, kTwo63, 2},      {1u << 22, 1u << 23}};
  const float value = 1;
  for (const auto& shape : shapes)
    expect_rejected<tensor_creation_error>({
        {"addVariable", [&] { g.addVariable(FLOAT, shape); }},
        {"addVariable, mapped", [&] { g.addVariable(HALF, shape, VariableMappingMethod::LINEAR); }},
        {"addConstant", [&] { g.addConstant(FLOAT, shape, 1.0f); }},
        {"addConstant of values", [&] { g.addConstant(FLOAT, shape, std::vector<float>(6)); }},
        {"addConstant of a pointer", [&] { g.addConstant(FLOAT, shape, &value); }},
        {"addConstantHalf", [&] { g.addConstantHalf(HALF, shape, std::uint16_t{1}); }},
        {"reshape", [&] { x.reshape(shape); }},
        {"reshape of nothing", [&] { none.reshape(shape); }},
        {"reshapePartial", [&] { x.reshapePartial(0, 2, shape); }},
        {"clone of such", [&] { g.clone(g.addVariable(FLOAT, shape)); }},
    });
  EXPECT_EQ(x.reshape({6}).numElements(), 6u);
  EXPECT_EQ(none.reshape({1000, 0}).numElements(), 0u);
  EXPECT_THROW(x.reshape({kTwo63 + 3, 2}), tensor_creation_error);  // 6 elements modulo 2^64
}

TEST(Sizes, ViewsDoNotWrapAround) {
  Setting s;
  const Tensor x = s.variable(FLOAT, {2, 3}, "x");
  const Tensor wide = s.variable(FLOAT, {1, 1}, "wide").broadcast(1u << 31, 0);
  const Tensor full = wide.broadcast(1u << 13, 1);
  EXPECT_EQ(full.numElements(), std::size_t{1} << 44);
  expect_rejected<tensor_creation_error>({
      {"broadcast", [&] { full.broadcast(2, 0); }},
      {"broadcast twice", [&] { wide.broadcast(~0u, 1); }},
      {"broadcast often",
       [&] {
         Tensor t = x;
         for (int i = 0; i < 64; ++i) t = t.broadcast(~0u, 0);
       }},
      {"upsample", [&] { full.upsample(2, 1, UpsampleMethod::REPEAT); }},
      {"upsample often",
       [&] {
         Tensor t = x;
         for (int i = 0; i < 64; ++i) t = t.upsample(~0u, 1, UpsampleMethod::REPEAT);
       }},
      {"concat", [&] { concat(full, full, 0); }},
      {"concat of empty ones",
       [&] {
         Tensor t = full.slice(0, 0, 0).reshape({0, std::size_t{1} << 44});
         concat(t, t, 1);
       }},
      {"expand", [&] { append(full.reshape({std::size_t{1} << 44}), wide.flatten(), 0); }},
      {"cloneN", [&] { s.graph.cloneN(x, kTwo63); }},
      {"cloneN in one",
       [&] {
         s.graph.cloneN(x, kTwo63 + 1, {}, TensorCloneMethod::PRESERVE_ORDER_UNLESS_ALIASES,
                        TensorCloneDuplicationMethod::DUPLICATE_BY_TILE_CONTIGUOUS_REGION);
       }},
      {"cloneN of nothing", [&] { s.graph.cloneN(x.slice(0, 0), kTwo32); }},
      {"initial values of what no host holds", [&] { s.graph.setInitialValue(s.graph.addVariable(FLOAT, {std::size_t{1} << 43}), 1.0f); }},
      {"a constant that no host holds", [&] { s.graph.addConstant(FLOAT, {std::size_t{1} << 43}, 1.0f); }},
  });
  expect_rejected<index_error>({
      {"slice", [&] { x.slice(kTwo63, kTwo63 + 1); }},
      {"slice backwards", [&] { x.slice(2, 1); }},
      {"slice to the end", [&] { x.slice(1, kMost); }},
      {"index", [&] { x[kMost]; }},
      {"slices", [&] { x.slices({Interval(0, kMost)}); }},
      {"slices of indices",
       [&] {
         const unsigned indices[] = {~0u};
         x.slices(ArrayRef<unsigned>(indices, 1));
       }},
      {"dimension", [&] { x.slice(0, 1, ~0u); }},
      {"dim", [&] { x.dim(~0u); }},
      {"dimRoll", [&] { x.dimRoll(~0u, 0); }},
      {"flatten", [&] { x.flatten(1, ~0u); }},
      {"expand far", [&] { x.expand({kMost}); }},
      {"squeeze", [&] { x.squeeze({kTwo32}); }},
      {"regions", [&] { s.graph.getSortedContiguousRegions(x, {Interval(kTwo63, kMost)}); }},
  });
}

TEST(Sizes, HostBuffers) {
  Setting s;
  Graph& g = s.graph;
  using Argument = Graph::HostFunctionArgument;
  expect_rejected<graph_object_creation_error>({
      {"stream", [&] { g.addHostToDeviceFIFO("a", FLOAT, kTwo62); }},
      {"stream out", [&] { g.addDeviceToHostFIFO("b", FLOAT, kMost); }},
      {"deep stream",
       [&] { g.addHostToDeviceFIFO("c", FLOAT, kTwo32 * 16, ReplicatedStreamMode::REPLICATE, {{"bufferingDepth", "1048576"}}); }},
      {"remote buffer", [&] { g.addRemoteBuffer("d", FLOAT, kTwo62, 1); }},
      {"remote rows", [&] { g.addRemoteBuffer("e", FLOAT, 4, kTwo62); }},
      {"remote rows that wrap to few", [&] { g.addRemoteBuffer("f", FLOAT, kTwo32, kTwo32 + 1); }},
      {"host function", [&] { g.addHostFunction("g", {Argument{FLOAT, kTwo62}}, {}); }},
      {"host function in sum",
       [&] { g.addHostFunction("h", {Argument{FLOAT, kTwo32 * 8192}, Argument{FLOAT, kTwo32 * 8192}}, {Argument{CHAR, 1}}); }},
  });
  const Tensor x = s.variable(FLOAT, {4}, "x"), rows = s.variable(UNSIGNED_INT, {4}, "rows");
  const RemoteBuffer wide = g.addRemoteBuffer("wide", FLOAT, kTwo32 * 1024);
  EXPECT_THROW(Copy(wide, x, rows), control_program_error);
  EXPECT_THROW(Copy(x, wide, rows.broadcast(1u << 30, 0)), control_program_error);  // 2^74 elements
  s.program.add(Copy(x.slice(0, 0), wide, rows.slice(0, 0)));
  EXPECT_THROW(s.loaded(), stream_memory_allocation_error);
}

TEST(Sizes, FieldsAndMappings) {
  Setting s;
  s.add_codelets();
  Graph& g = s.graph;
  const Tensor x = s.variable(FLOAT, {8}, "x");
  const VertexRef rows = g.addVertex(s.set, "Rows");
  g.setFieldSize(rows["offsets"], 2);
  expect_rejected<poplar_error>({
      {"setFieldSize", [&] { g.setFieldSize(rows["rows"], kMost); }},
      {"setFieldSize of state", [&] { g.setFieldSize(rows["offsets"], kTwo63); }},
  });
  expect_rejected<index_error>({{"element", [&] { g.setInitialValue(rows["offsets"][kMost], 1.0f); }},
                                {"element behind", [&] { g.setInitialValue(rows["offsets"][kTwo62], 1.0f); }}});
  using Mapping = Graph::TileToTensorMapping;
  expect_rejected<invalid_tile_mapping>({
      {"far", [&] { g.setTileMapping(x, Mapping{{{kTwo63, kMost}}}); }},
      {"inverted", [&] { g.setTileMapping(x, Mapping{{{6, 2}}}); }},
      {"twice on a tile", [&] { g.setTileMapping(x, Mapping{{{0, 4}, {3, 8}}}); }},
      {"on two tiles", [&] { g.setTileMapping(x, Mapping{{{0, 5}}, {{4, 8}}}); }},
      {"within", [&] { g.setTileMapping(x, Mapping{{{5, 6}}, {{0, 8}}}); }},
      {"tile", [&] { g.setTileMapping(x, ~0u); }},
  });
  g.setTileMapping(x, Mapping{{{4, 8}, {0, 0}}, {{0, 4}}});
  EXPECT_THROW(g.setInitialValue(x.broadcast(2, 0), std::vector<float>(16)), tensor_creation_error);
}

TEST(Sizes, ConstantsFitTheirType) {
  Setting s;
  Graph& g = s.graph;
  const Tensor n = s.variable(INT, {2}, "n");
  expect_rejected<overflow_error>({
      {"int", [&] { g.addConstant(INT, {}, 5000000000u); }},
      {"unsigned", [&] { g.addConstant(UNSIGNED_INT, {}, -5000000000); }},
      {"unsigned short", [&] { g.addConstant(UNSIGNED_SHORT, {}, 65536); }},
      {"char", [&] { g.addConstant<int>(SIGNED_CHAR, {2}, {1, 128}); }},
      {"half", [&] { g.addConstant(HALF, {4}, 70000.0f); }},
      {"float", [&] { g.addConstant(FLOAT, {}, 1e300); }},
      {"int of infinity", [&] { g.addConstant(INT, {}, std::numeric_limits<float>::infinity()); }},
      {"setInitialValue", [&] { g.setInitialValue(n, std::vector<long long>{1, kTwo32 * 4}); }},
  });
  expect_rejected<type_error>({{"a fraction", [&] { g.addConstant(INT, {}, 1.5f); }}});
  float value = 0;
  EXPECT_TRUE(g.addConstant(HALF, {}, std::numeric_limits<float>::infinity()).getConstantValue(&value));
  EXPECT_EQ(value, std::numeric_limits<float>::infinity());
  int bits = 0;  // an unsigned value of the same size is taken by its bits
  EXPECT_TRUE(g.addConstant(INT, {}, 3000000000u).getConstantValue(&bits));
  EXPECT_EQ(bits, static_cast<int>(3000000000u));
  EXPECT_THROW(g.addConstant(FLOAT, {4}, static_cast<const float*>(nullptr)), tensor_creation_error);
}

}  // namespace
}  // namespace api
