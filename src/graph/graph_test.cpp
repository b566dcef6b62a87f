#include "graph/graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <malloc.h>

#include <chrono>
#include <numeric>
#include <random>

#include "base/testing/processor_time.h"
#include "graph/test_codelets.h"

namespace pando::graph {
namespace {

using testing::bytes_of;
using ::testing::ElementsAre;
using testing::expect_error;
using ::testing::IsEmpty;
using testing::make_graph;

constexpr ElementType kFloat = ElementType::float_;

struct Fixture : ::testing::Test {
  Graph graph = make_graph();
  ComputeSetId cs = graph.add_compute_set("cs");
  View v(const Shape& shape, ElementType type = kFloat, const char* name = "x") {
    return graph.view(graph.add_variable(type, shape, name));
  }
  FieldRef at(VertexId x, const char* field, std::optional<std::size_t> row = {}) { return {x, field, row}; }
  const Edge& edge(VertexId x, std::size_t i) { return graph.vertices()[x].edges[i]; }
};

struct Mapping : Fixture {
  // Of each tile, the intervals of the tensor's elements.
  std::vector<std::vector<Interval>> lists_of(const View& tensor, bool* complete = nullptr) {
    std::vector<std::vector<Interval>> lists(graph.machine().tiles());
    for (const MappedInterval& i : graph.tile_mapping(tensor, complete)) lists[i.tile.index()].push_back(i.elements);
    return lists;
  }
};
struct Connect : Fixture {};
struct InitialValue : Fixture {};
struct Host : Fixture {};

// --- Mapping ----------------------------------------------------------------------------------------------------------------

TEST_F(Mapping, IsInTheTensorsOwnOrder) {
  const View x = v({3, 4});
  for (std::uint32_t row = 0; row < 3; ++row) graph.set_tile_mapping(x.index(row), TileId(row));
  bool complete = false;
  const auto mapping = lists_of(x.dim_shuffle({1, 0}).slice(0, 2, 0), &complete);
  EXPECT_TRUE(complete);
  ASSERT_EQ(mapping.size(), 8u);
  EXPECT_THAT(mapping[0], ElementsAre(Interval{0, 1}, Interval{3, 4}));
  EXPECT_THAT(mapping[2], ElementsAre(Interval{2, 3}, Interval{5, 6}));
  EXPECT_THAT(mapping[3], IsEmpty());
  EXPECT_THAT(lists_of(x.reverse(0).flatten())[0], ElementsAre(Interval{8, 12}));
  EXPECT_THAT(lists_of(x.flatten().reverse(0))[1], ElementsAre(Interval{4, 8}));
  EXPECT_THAT(lists_of(x.index(1).index(2).reshape({1}).broadcast(9, 0))[1], ElementsAre(Interval{0, 9}));
}

TEST_F(Mapping, OfListsAndOfPermutedTensors) {
  const View x = v({4, 4});
  const std::vector<MappedInterval> mapping = {{{0, 4}, TileId(1)}, {{4, 12}, TileId(7)}, {{12, 16}, TileId(1)}};
  graph.set_tile_mapping(x.dim_shuffle({1, 0}), {mapping[0], mapping[2], mapping[1]});
  EXPECT_EQ(graph.tile_mapping(x.dim_shuffle({1, 0}), nullptr), mapping);
  EXPECT_THAT(lists_of(x.index(2))[7], ElementsAre(Interval{1, 3}));
  graph.set_tile_mapping(x.dim_shuffle({1, 0}), TileId(3));
  EXPECT_EQ(graph.variables()[VariableId(0)].mapping.intervals().size(), 1u);
}

TEST_F(Mapping, GapsAreSeenFromEverySide) {
  const View x = v({10});
  graph.set_tile_mapping(x.slice(2, 4, 0), TileId(1));
  graph.set_tile_mapping(x.slice(6, 7, 0), TileId(2));
  bool complete = true;
  auto mapping = lists_of(x, &complete);
  EXPECT_FALSE(complete);
  EXPECT_THAT(mapping[1], ElementsAre(Interval{2, 4}));
  EXPECT_THAT(mapping[2], ElementsAre(Interval{6, 7}));
  mapping = lists_of(x.reverse(0), &complete);
  EXPECT_FALSE(complete);
  EXPECT_THAT(mapping[1], ElementsAre(Interval{6, 8}));
  EXPECT_THAT(mapping[2], ElementsAre(Interval{3, 4}));
  graph.tile_mapping(x.sub_sample(4, 0).slice(1, 2, 0), &complete);
  EXPECT_FALSE(complete);
  graph.tile_mapping(x.slice(2, 10, 0).sub_sample(4, 0), &complete);
  EXPECT_TRUE(complete);
}

TEST_F(Mapping, Errors) {
  const View x = v({10});
  expect_error<poplar::invalid_tile_mapping>([&] { graph.set_tile_mapping(x, TileId(8)); },
                                             "tensor of variable 'x' mapped to tile 8; machine 'tiny' has 8 tiles (0 to 7) on 2 IPUs");
  expect_error<poplar::invalid_tile_mapping>([&] { graph.set_tile_mapping(View(), TileId(0)); }, "not valid");
  expect_error<poplar::invalid_tile_mapping>([&] { graph.set_tile_mapping(x, {{{0, 11}, TileId(0)}}); },
                                             "elements [0, 11) of a tensor of shape {10}");
  graph.set_tile_mapping(x, {{{3, 3}, TileId(8)}});  // no elements for a tile that is not there: does nothing
  expect_error<poplar::invalid_tile_mapping>([&] { graph.set_tile_mapping(x, {{{0, 1}, TileId(8)}}); }, "mapped to tile 8");
  const VertexId vertex = graph.add_vertex(cs, "Dot");
  expect_error<poplar::invalid_tile_mapping>([&] { graph.set_tile_mapping(vertex, TileId(8)); }, "vertex 0 (Dot) mapped to tile 8");
  expect_error<poplar::invalid_tile_mapping>([&] { graph.set_tile_group(TileId(9), true); }, "tile group mapped to tile 9");
}

// The elements [begin, end) of a tensor are mapped one by one.
void map_one_by_one(const View& tensor, Interval part, TileId tile, std::vector<TileId>& tiles) {
  std::uint64_t at = 0;
  tensor.for_each_run([&](const Run& run) {
    for (std::uint64_t i = 0; i < run.count; ++i, ++at)
      if (at >= part.begin && at < part.end)
        tiles[run.offset + static_cast<std::uint64_t>(run.stride * static_cast<std::int64_t>(i))] = tile;
  });
}

TEST_F(Mapping, OfRandomTensorsIsThatOfTheirElements) {
  for (unsigned seed = 0; seed < 500; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    const auto below = [&](std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random); };
    const View whole = v({4, 15});
    std::vector<TileId> tiles(60);
    for (int writes = 0; writes < 4; ++writes) {
      View t = whole;
      for (int i = 0; i < 3; ++i) {
        const auto d = static_cast<unsigned>(below(2)), n = static_cast<unsigned>(1 + below(3));
        const std::size_t begin = below(t.dim(d));
        switch (below(6)) {
          case 0: t = t.slice(begin, begin + 1 + below(t.dim(d) - begin), d); break;
          case 1: t = t.reverse(d); break;
          case 2: t = t.broadcast(n, d); break;
          case 3: t = t.upsample(n, d); break;
          case 4: t = t.sub_sample(n, d); break;
          default: t = t.dim_shuffle({1, 0});
        }
      }
      const std::uint64_t n = t.num_elements(), cut = below(n + 1);
      const TileId first(static_cast<std::uint32_t>(below(8))), second(static_cast<std::uint32_t>(below(8)));
      map_one_by_one(t, {0, cut}, first, tiles);
      map_one_by_one(t, {cut, n}, second, tiles);
      if (first == second)
        graph.set_tile_mapping(t, first);
      else
        graph.set_tile_mapping(t, {{{0, cut}, first}, {{cut, n}, second}});
    }
    Region region;
    ASSERT_TRUE(whole.single_region(region));
    const TileMap& map = graph.variables()[region.variable].mapping;
    for (std::uint64_t e = 0; e < tiles.size(); ++e) ASSERT_EQ(map.tile_of(e), tiles[e]) << e;
  }
}

TEST_F(Mapping, OfAnElementThatStandsBillionsOfTimes) {
  constexpr std::uint64_t kMany = 1ull << 31, kHuge = 1ull << 43;
  const View x = v({5}), many = x.slice(2, 3, 0).broadcast(kMany, 0);
  graph.set_tile_mapping(x, TileId(0));
  graph.set_tile_mapping(many, {{{0, 5}, TileId(2)}, {{5, kMany}, TileId(3)}});
  EXPECT_THAT(lists_of(x)[3], ElementsAre(Interval{2, 3}));
  graph.set_tile_mapping(many, TileId(1));
  EXPECT_THAT(lists_of(x)[1], ElementsAre(Interval{2, 3}));
  EXPECT_THAT(lists_of(many)[1], ElementsAre(Interval{0, kMany}));
  const View huge = v({kHuge});
  graph.set_tile_mapping(huge.reverse(0), {{{0, 8}, TileId(4)}, {{8, kHuge}, TileId(5)}});
  EXPECT_THAT(lists_of(huge)[4], ElementsAre(Interval{kHuge - 8, kHuge}));
  expect_error<poplar::invalid_tile_mapping>([&] { graph.set_tile_mapping(huge.sub_sample(2, 0), TileId(0)); }, "the host's memory");
}

TEST(Build, ReplicationFactorZero) {
  expect_error<poplar::graph_replication_error>([] { Graph(testing::machine(), 0); }, "replication factor 0");
}

// --- Vertices -----------------------------------------------------------------------------------------------------------------

TEST_F(Connect, UnknownVertexNamesSimilarOnes) {
  expect_error<poplar::unknown_vertex_type>([&] { graph.add_vertex(cs, "Add<half>"); }, "no codelet 'Add<half>' among the 4");
  expect_error<poplar::unknown_vertex_type>([&] { graph.add_vertex(cs, "Dott"); }, "'Dot'");
  expect_error<poplar::graph_object_creation_error>([&] { graph.add_vertex(ComputeSetId(5), "Dot"); }, "compute set 5");
}

TEST_F(Connect, UnknownFieldListsTheFields) {
  const VertexId x = graph.add_vertex(cs, "Dot");
  expect_error<poplar::unknown_field>([&] { graph.connect(at(x, "row"), v({2, 2})); },
                                      "vertex type 'Dot' has no field 'row'; it has 'rows', 'result'");
}

TEST_F(Connect, ScalarTakesOneElementOfAnyRank) {
  const VertexId x = graph.add_vertex(cs, "Dot");
  graph.connect(at(x, "result"), v({}));
  graph.connect(at(x, "result"), v({1, 1}));
  EXPECT_TRUE(edge(x, 1).connected);
  expect_error<poplar::graph_connection_error>([&] { graph.connect(at(x, "result"), v({2})); },
                                               "Dot.result (vertex 0): a scalar field takes one element; the tensor has shape {2}");
  expect_error<poplar::graph_connection_error>([&] { graph.connect(at(x, "result"), std::vector<View>{v({1}), v({1})}); },
                                               "a list of 2 tensors to a scalar field");
}

TEST_F(Connect, VectorTakesOneDimensionOrAList) {
  const VertexId x = graph.add_vertex(cs, "Add<float>");
  const View a = v({4});
  graph.connect(at(x, "a"), a);
  EXPECT_THAT(edge(x, 0).rows, ElementsAre(a));
  graph.connect(at(x, "a"), std::vector<View>{a.slice(0, 2, 0), a.slice(2, 4, 0), a.index(0)});
  EXPECT_EQ(graph.field_size(at(x, "a")), 5u);
  graph.connect(at(x, "a"), v({}));
  EXPECT_EQ(graph.field_size(at(x, "a")), 1u);
  graph.connect(at(x, "a"), std::vector<View>());
  EXPECT_EQ(graph.field_size(at(x, "a")), 0u);
  EXPECT_TRUE(edge(x, 0).connected);
  expect_error<poplar::graph_connection_error>([&] { graph.connect(at(x, "a"), v({2, 3})); },
                                               "takes a tensor of rank 1 (flatten() it), or a list of them; the tensor has shape {2,3}");
  expect_error<poplar::graph_connection_error>([&] { graph.connect(at(x, "a"), std::vector<View>{v({2, 3}), a}); }, "shape {2,3}");
}

TEST_F(Connect, MatrixTakesRows) {
  const VertexId x = graph.add_vertex(cs, "Dot");
  const View a = v({3, 2, 2});
  graph.connect(at(x, "rows"), a);
  EXPECT_THAT(edge(x, 0).rows, ElementsAre(a.index(0).flatten(), a.index(1).flatten(), a.index(2).flatten()));
  EXPECT_EQ(graph.field_size(at(x, "rows")), 3u);
  EXPECT_EQ(graph.field_size(at(x, "rows", 1)), 4u);
  graph.connect(at(x, "rows"), std::vector<View>{v({7}), v({})});
  EXPECT_EQ(graph.field_size(at(x, "rows", 0)), 7u);
  EXPECT_EQ(graph.field_size(at(x, "rows", 1)), 1u);
  expect_error<poplar::graph_connection_error>([&] { graph.connect(at(x, "rows"), v({4})); }, "takes a tensor of rank 2");
  expect_error<poplar::graph_connection_error>([&] { graph.connect(at(x, "rows"), std::vector<View>{a}); },
                                               "a row takes a tensor of rank 1");
}

TEST_F(Connect, RowByRow) {
  const VertexId x = graph.add_vertex(cs, "Dot");
  graph.set_field_size(at(x, "rows"), 3);
  for (std::size_t row : {2, 0, 1}) {
    EXPECT_FALSE(edge(x, 0).connected);
    graph.connect(at(x, "rows", row), v({row + 1}));
  }
  EXPECT_TRUE(edge(x, 0).connected);
  EXPECT_EQ(graph.field_size(at(x, "rows", 2)), 3u);
  expect_error<poplar::index_error>([&] { graph.connect(at(x, "rows", 3), v({4})); }, "row 3 of Dot.rows (vertex 0), which has 3 rows");
  expect_error<poplar::graph_connection_error>([&] { graph.connect(at(x, "rows", 1), v({2, 2})); }, "a row takes a tensor of rank 1");
}

TEST_F(Connect, RowsBeforeTheirNumber) {
  const VertexId x = graph.add_vertex(cs, "Dot"), y = graph.add_vertex(cs, "Dot");
  graph.connect(at(x, "rows", 0), v({4}));
  EXPECT_TRUE(edge(x, 0).connected);
  graph.connect(at(x, "rows", 2), v({2}));
  EXPECT_FALSE(edge(x, 0).connected);
  graph.connect(at(x, "rows", 1), v({3}));
  EXPECT_TRUE(edge(x, 0).connected);
  EXPECT_EQ(graph.field_size(at(x, "rows")), 3u);
  graph.set_field_size(at(x, "rows"), 3);
  EXPECT_TRUE(edge(x, 0).connected);
  expect_error<poplar::index_error>([&] { graph.connect(at(x, "rows", 3), v({4})); }, "which has 3 rows");
  graph.connect(at(y, "rows", 0), v({4}));
  graph.set_field_size(at(y, "rows"), 2);
  EXPECT_FALSE(edge(y, 0).connected);
  graph.connect(at(y, "rows", 1), v({4}));
  EXPECT_TRUE(edge(y, 0).connected);
}

TEST_F(Connect, ElementByElement) {
  const VertexId x = graph.add_vertex(cs, "Add<float>");
  const View a = v({4});
  expect_error<poplar::no_size_specified>([&] { graph.field_size(at(x, "a")); }, "Add<float>.a (vertex 0)");
  expect_error<poplar::no_size_specified>([&] { graph.connect(at(x, "a", 0), a.index(0)); }, "call setFieldSize first");
  graph.set_field_size(at(x, "a"), 3);
  EXPECT_EQ(graph.field_size(at(x, "a")), 3u);
  for (std::size_t i : {2, 0, 1}) {
    EXPECT_FALSE(edge(x, 0).connected);
    graph.connect(at(x, "a", i), a.index(i));
  }
  EXPECT_EQ(edge(x, 0).rows[0], a.slice(0, 3, 0));
  graph.connect(at(x, "a", 1), a.index(3));
  EXPECT_EQ(edge(x, 0).rows[0], View::concat({a.slice(0, 1, 0), a.slice(3, 4, 0), a.slice(2, 3, 0)}, 0));
  expect_error<poplar::index_error>([&] { graph.connect(at(x, "a", 3), a.index(3)); }, "which has size 3");
  expect_error<poplar::graph_connection_error>([&] { graph.connect(at(x, "a", 0), a); }, "one element of a field takes one element");
  expect_error<poplar::graph_connection_error>([&] { graph.set_field_size(at(x, "a", 0), 3); }, "a row of Add<float>.a");
}

TEST_F(Connect, TypesAndKinds) {
  const VertexId add = graph.add_vertex(cs, "Add<float>"), scale = graph.add_vertex(cs, "Scale");
  expect_error<poplar::type_error>(
      [&] { graph.connect(at(add, "a"), v({4}, ElementType::half)); },
      "connect of Add<float>.a (vertex 0): the field has element type float, the tensor of shape {4} has half");
  expect_error<poplar::graph_connection_error>([&] { graph.connect(at(add, "a"), View()); }, "not valid");
  expect_error<poplar::graph_connection_error>([&] { graph.connect(at(scale, "factor"), v({}, ElementType::half)); },
                                               "use setInitialValue");
  const View c = graph.view(graph.add_constant(kFloat, {4}, std::string(16, '\0'), "zeros"));
  graph.connect(at(add, "a"), c);
  expect_error<poplar::graph_connection_error>([&] { graph.connect(at(add, "out"), c); }, "constant 'zeros'");
  expect_error<poplar::graph_connection_error>([&] { graph.connect(at(scale, "data"), c); }, "constant 'zeros'");
}

TEST_F(Connect, LayoutsLimitSizes) {
  Codelet c = hand_made_codelet("Short", {hand_made_field("a", FieldKind::input, FieldShape::vector, kFloat)});
  c.fields[0].layout = FieldLayout::short_span;
  graph.library().add_builtin("short", {c});
  const VertexId x = graph.add_vertex(cs, "Short");
  const std::uint64_t most = max_field_size(c.fields[0], 0);
  graph.connect(at(x, "a"), v({most}));
  expect_error<poplar::graph_connection_error>([&] { graph.connect(at(x, "a"), v({most + 1})); },
                                               "the field's layout can hold " + std::to_string(most));
  expect_error<poplar::graph_connection_error>([&] { graph.set_field_size(at(x, "a"), most + 1); }, "the field's layout can hold");
}

TEST_F(Connect, ConstantsGoWhereTheVertexGoes) {
  const VertexId x = graph.add_vertex(cs, "Pick");
  graph.connect_constant(at(x, "index"), ElementType::int_, bytes_of<std::int32_t>({7}), 1);
  const VariableId c = edge(x, 0).rows[0].variables()[0];
  EXPECT_EQ(graph.variables()[c].type, ElementType::unsigned_int);
  EXPECT_EQ(graph.variables()[c].initial, bytes_of<std::uint32_t>({7}));
  EXPECT_FALSE(graph.variables()[c].mapping.complete(1));
  graph.set_tile_mapping(x, TileId(2));
  graph.set_tile_mapping(x, TileId(3));
  EXPECT_EQ(graph.variables()[c].mapping.tile_of(0), TileId(3));
  expect_error<poplar::overflow_error>([&] { graph.connect_constant(at(x, "index"), ElementType::int_, bytes_of<std::int32_t>({-1}), 1); },
                                       "Pick.index (vertex 0): -1 is out of the range of unsigned int");
  expect_error<poplar::graph_connection_error>([&] { graph.connect_constant(at(x, "out"), kFloat, bytes_of<float>({1}), 1); },
                                               "the field is written");
  const VertexId add = graph.add_vertex(cs, "Add<float>");
  graph.connect_constant(at(add, "a"), kFloat, bytes_of<float>({1}), 1);
  EXPECT_EQ(edge(add, 0).rows[0].shape(), (Shape{1}));
}

// --- Values -------------------------------------------------------------------------------------------------------------------

TEST_F(InitialValue, OfStateFields) {
  const VertexId scale = graph.add_vertex(cs, "Scale"), pick = graph.add_vertex(cs, "Pick");
  graph.set_initial_value(at(scale, "factor"), kFloat, bytes_of<float>({1.5f}), 1);
  EXPECT_EQ(graph.vertices()[scale].state[0].bytes, bytes_of<std::uint16_t>({half_from_float(1.5f)}));
  graph.set_initial_value(at(pick, "table"), ElementType::int_, bytes_of<std::int32_t>({1, -2, 3}), 3);
  EXPECT_EQ(graph.vertices()[pick].state[0].bytes, bytes_of<std::int16_t>({1, -2, 3}));
  EXPECT_EQ(graph.field_size(at(pick, "table")), 3u);
  graph.set_initial_value(at(pick, "table", 1), ElementType::int_, bytes_of<std::int32_t>({9}), 1);
  EXPECT_EQ(graph.vertices()[pick].state[0].bytes, bytes_of<std::int16_t>({1, 9, 3}));
  graph.set_initial_value(at(pick, "index"), ElementType::int_, bytes_of<std::int32_t>({9}), 1);  // an Input: a constant
  EXPECT_TRUE(edge(pick, 0).connected);
}

TEST_F(InitialValue, Errors) {
  const VertexId scale = graph.add_vertex(cs, "Scale"), pick = graph.add_vertex(cs, "Pick");
  expect_error<poplar::overflow_error>(
      [&] { graph.set_initial_value(at(pick, "table"), ElementType::int_, bytes_of<std::int32_t>({1, 40000}), 2); },
      "setInitialValue of Pick.table (vertex 1): 40000 is out of the range of short");
  expect_error<poplar::graph_connection_error>([&] { graph.set_initial_value(at(scale, "factor"), kFloat, bytes_of<float>({1, 2}), 2); },
                                               "the field is a scalar; 2 values given");
  expect_error<poplar::graph_connection_error>([&] { graph.set_initial_value(at(scale, "factor", 1), kFloat, bytes_of<float>({1}), 1); },
                                               "element 1 was addressed");
  expect_error<poplar::graph_connection_error>([&] { graph.set_initial_value(at(scale, "factor"), kFloat, "abc", 1); },
                                               "3 bytes for 1 values");
  expect_error<poplar::no_size_specified>([&] { graph.set_initial_value(at(pick, "table", 0), kFloat, bytes_of<float>({1}), 1); },
                                          "call setFieldSize first");
  graph.set_field_size(at(pick, "table"), 2);
  expect_error<poplar::index_error>([&] { graph.set_initial_value(at(pick, "table", 2), kFloat, bytes_of<float>({1}), 1); },
                                    "element 2 of a field of size 2");
  expect_error<poplar::graph_connection_error>([&] { graph.set_field_size(at(scale, "factor"), 2); }, "which has a fixed size");
}

TEST_F(InitialValue, OfTensors) {
  const View x = v({2, 2});
  graph.set_initial_value(x.dim_shuffle({1, 0}), bytes_of<float>({1, 2, 3, 4}));
  EXPECT_EQ(graph.variables()[VariableId(0)].initial, bytes_of<float>({1, 3, 2, 4}));
  graph.set_initial_value(x.index(1), bytes_of<float>({8, 9}));
  EXPECT_EQ(graph.variables()[VariableId(0)].initial, bytes_of<float>({1, 3, 8, 9}));
  expect_error<poplar::tensor_creation_error>([&] { graph.set_initial_value(x, bytes_of<float>({1})); },
                                              "shape {2,2} with 1 values; it has 4 elements");
  expect_error<poplar::tensor_creation_error>([&] { graph.add_constant(kFloat, {3}, "abcd", "c"); }, "shape {3} needs 3 values; 1 given");
  const View c = graph.view(graph.add_constant(kFloat, {}, "abcd", "c"));
  expect_error<poplar::tensor_creation_error>([&] { graph.set_initial_value(c, "abcd"); }, "constant 'c'");
}

// --- Host ---------------------------------------------------------------------------------------------------------------------

TEST_F(Host, HandlesAreNamedOnce) {
  graph.add_fifo({"in"});
  expect_error<poplar::graph_object_creation_error>([&] { graph.add_fifo({"in"}); }, "stream 'in'");
  Fifo none{"none"};
  none.buffering_depth = 0;
  expect_error<poplar::invalid_option>([&] { graph.add_fifo(none); }, "bufferingDepth 0");
  graph.add_remote_buffer({"weights", kFloat, 4, 2});
  expect_error<poplar::graph_object_creation_error>([&] { graph.add_remote_buffer({"weights", kFloat, 4, 2}); }, "remote buffer 'weights'");
  expect_error<poplar::graph_object_creation_error>([&] { graph.add_remote_buffer({"empty", kFloat, 0, 2}); }, "0 elements in 2 rows");
  graph.add_host_function({"log", {}, {}});
  expect_error<poplar::graph_object_creation_error>([&] { graph.add_host_function({"log", {}, {}}); }, "host function 'log'");
}

TEST_F(Host, ReadsAndWrites) {
  const View x = v({4});
  graph.add_host_handle("x", x, true, false);
  graph.add_host_handle("x", x, false, true);
  ASSERT_EQ(graph.host_handles().size(), 1u);
  EXPECT_TRUE(graph.host_handles()[0].readable && graph.host_handles()[0].writable);
  expect_error<poplar::graph_object_creation_error>([&] { graph.add_host_handle("x", x, true, false); }, "host read 'x'");
  expect_error<poplar::tensor_io_state_error>([&] { graph.add_host_handle("y", x.broadcast(2, 0), false, true); },
                                              "the tensor of shape {8} holds an element twice");
  graph.add_host_handle("y", x.broadcast(2, 0), true, false);
  const View c = graph.view(graph.add_constant(kFloat, {}, "abcd", "c"));
  expect_error<poplar::tensor_io_state_error>([&] { graph.add_host_handle("c", c, false, true); }, "constant 'c'");
  expect_error<poplar::tensor_io_state_error>([&] { graph.add_host_handle("z", View(), true, false); }, "not valid");
}

// --- Size ---------------------------------------------------------------------------------------------------------------------

TEST(BuildSpeed, ThirtyTwoIpus) {
  const std::size_t before = mallinfo2().uordblks;
  const double begin = processor_seconds();
  Graph graph = make_graph(1472, 32);
  const std::uint32_t tiles = 47104;
  const std::size_t each = 6 * 16;
  const View x = graph.view(graph.add_variable(kFloat, {tiles * each}, "x")),
             y = graph.view(graph.add_variable(kFloat, {tiles * each}, "y"));
  const ComputeSetId cs = graph.add_compute_set("cs");
  for (std::uint32_t t = 0; t < tiles; ++t) {
    graph.set_tile_mapping(x.slice(t * each, (t + 1) * each, 0), TileId(t));
    graph.set_tile_mapping(y.slice(t * each, (t + 1) * each, 0), TileId(t));
    for (std::size_t w = 0; w < 6; ++w) {
      const std::size_t at = t * each + w * 16;
      const VertexId v = graph.add_vertex(cs, "Add<float>");
      graph.connect({v, "a", {}}, x.slice(at, at + 16, 0));
      graph.connect({v, "b", {}}, x.slice(at == 0 ? 0 : at - 1, at + 15, 0));
      graph.connect({v, "out", {}}, y.slice(at, at + 16, 0));
      graph.set_tile_mapping(v, TileId(t));
    }
  }
  const double built = processor_seconds() - begin;
  const std::size_t bytes = mallinfo2().uordblks - before;
  EXPECT_EQ(graph.vertices().size(), 282624u);
  EXPECT_LT(built, 2.0 * kSlowerBuild);
  EXPECT_LT(bytes / (3 * 282624), 200u) << "bytes an edge, with the vertex's share";
  verify(graph, {});
  EXPECT_LT(processor_seconds() - begin, 4.0 * kSlowerBuild);
}

}  // namespace
}  // namespace pando::graph
