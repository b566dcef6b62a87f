#include "graph/replicas.h"

#include "base/testing/golden.h"
#include "graph/test_codelets.h"

namespace pando::graph {
namespace {

using testing::bytes_of;
using testing::expect_error;
using testing::make_graph;

constexpr ElementType kFloat = ElementType::float_;

std::vector<TileId> tiles(std::uint32_t begin, std::uint32_t end) {
  std::vector<TileId> list;
  for (; begin < end; ++begin) list.emplace_back(begin);
  return list;
}

// Two replicas of two tiles each; `first`: tiles [first, first + 4) are shared out.
struct Replicated {
  explicit Replicated(Graph g, std::uint32_t first = 0, std::uint32_t end = 4) : graph(std::move(g)) {
    Machine one = graph.machine();
    one.ipus = 1;
    id = graph.add_replication({one, 2, tiles(first, end)});
    x = variable("x", first), y = variable("y", first + 1);
    cs = graph.add_compute_set("scale");
    const VertexId v = graph.add_vertex(cs, "Scale", id);
    graph.connect({v, "data", {}}, x);
    graph.set_tile_mapping(v, TileId(first));
  }
  View variable(const char* name, std::uint32_t tile) {
    const View v = graph.view(graph.add_variable(kFloat, {4}, name, id));
    graph.set_tile_mapping(v, TileId(tile));
    return v;
  }

  Graph graph;
  ReplicationId id;
  View x, y;
  ComputeSetId cs;
};

// What is written once, and what is compiled: beside something of the whole graph, and alone.
TEST(Replicas, BothForms) {
  Replicated r(make_graph(), 4, 8);
  const View all = View::concat({r.graph.on_replica(r.x, 0), r.graph.on_replica(r.x, 1)}, 0);
  const View sum = r.graph.view(r.graph.add_variable(kFloat, {8}, "sum"));
  r.graph.set_tile_mapping(sum, TileId(1));
  r.graph.set_tile_group(TileId(5), true);
  r.graph.add_host_handle("y", r.y, true, false);
  const ProgramPtr program =
      make_program(Sequence{{make_program(Execute{r.cs, {}}), make_program(Copy{r.x.reverse(0), r.y}), make_program(Copy{all, sum})}});
  const ExpandedReplicas one_by_one = expand_replicas(r.graph, {&program, 1});
  EXPECT_EQ(one_by_one.copy_of, std::vector<VertexId>{VertexId(0)});
  verify(one_by_one.graph, one_by_one.programs);

  Replicated whole(make_graph(), 0, 8);
  const ProgramPtr same = make_program(Sequence{{make_program(Execute{whole.cs, {}}), make_program(Copy{whole.x.reverse(0), whole.y})}});
  const ExpandedReplicas as_replicas = expand_replicas(whole.graph, {&same, 1});
  verify(as_replicas.graph, as_replicas.programs);
  EXPECT_EQ(as_replicas.graph.replication_factor(), 2u);
  expect_golden("graph/replicas.txt", "# as written\n" + print(r.graph, {&program, 1}) + "\n# one by one\n" +
                                          print(one_by_one.graph, one_by_one.programs) + "\n# as replicas\n" +
                                          print(as_replicas.graph, as_replicas.programs));
}

// Where no stretch of tiles is one replica's.
TEST(Replicas, TilesInAnyOrder) {
  Graph graph = make_graph();
  const ReplicationId id = graph.add_replication({graph.machine(), 2, {TileId(6), TileId(1), TileId(0), TileId(5)}});
  EXPECT_EQ(graph.tile_of_replica(id, 0, TileId(1)), TileId(1));
  EXPECT_EQ(graph.tile_of_replica(id, 1, TileId(1)), TileId(5));
  EXPECT_EQ(graph.tile_of_replica(id, 1, TileId(6)), TileId(0));
  expect_error<poplar::graph_replication_error>([&] { graph.tile_of_replica(id, 1, TileId(5)); }, "tile 5 is not one of the 2");
  const View x = graph.view(graph.add_variable(kFloat, {4}, "x", id));
  graph.set_tile_mapping(x.slice(0, 3, 0), TileId(1));
  bool complete = true;
  const std::vector<MappedInterval> mapping = graph.tile_mapping(graph.on_replica(x, 1).reverse(0), &complete);
  EXPECT_EQ(mapping, (std::vector<MappedInterval>{{{1, 4}, TileId(5)}}));
  EXPECT_FALSE(complete);
  graph.set_tile_mapping(x.slice(3, 4, 0), TileId(5));
  expect_error<poplar::graph_replication_error>([&] { graph.tile_mapping(graph.on_replica(x, 1), nullptr); }, "tile 5 is not one of the 2");
}

// A program tree that shares nodes still shares them.
TEST(Replicas, SharedPrograms) {
  Replicated r(make_graph());
  const ProgramPtr step = make_program(Copy{r.x, r.y});
  const ProgramPtr twice = make_program(Sequence{{step, step, make_program(Repeat{2, step})}});
  const ExpandedReplicas e = expand_replicas(r.graph, {&twice, 1});
  const auto& steps = std::get<Sequence>(e.programs[0]->body).steps;
  EXPECT_EQ(steps[0], steps[1]);
  EXPECT_EQ(std::get<Repeat>(steps[2]->body).body, steps[0]);
  EXPECT_EQ(std::get<Copy>(steps[0]->body).source.num_elements(), 8u);
}

TEST(Replicas, ChannelsAndIndices) {
  Replicated r(make_graph());
  const ChannelId channel = r.graph.add_channel({"c", kFloat, 4, 1});
  for (const ProgramPtr& p : {make_program(Send{channel, r.x}), make_program(Receive{channel, r.x})})
    expect_error<poplar::graph_replication_error>([&, p] { expand_replicas(r.graph, {&p, 1}); }, "of which there is one on each replica");
  Graph of_two(testing::machine(), 2);
  of_two.library().add_builtin("test", testing::codelets());
  Replicated inner(std::move(of_two));
  inner.graph.add_replica_index("index", inner.id);
  expect_error<poplar::graph_replication_error>([&] { expand_replicas(inner.graph, {}); }, "within a graph of 2 replicas");
}

}  // namespace
}  // namespace pando::graph
