// Golden texts: tests/golden/graph/*.txt. PANDO_BLESS=1 rewrites them.
#include "base/testing/golden.h"
#include "graph/graph.h"
#include "graph/test_codelets.h"

namespace pando::graph {
namespace {

using testing::bytes_of;
using testing::make_graph;

constexpr ElementType kFloat = ElementType::float_;

// y = 2 x + 1, a piece on each tile, ten times.
struct Axpy {
  Graph graph = make_graph();
  std::vector<ProgramPtr> programs;

  Axpy() {
    const View x = graph.view(graph.add_variable(kFloat, {2, 16}, "x")), y = graph.view(graph.add_variable(kFloat, {32}, "y"));
    const View one = graph.view(graph.add_constant(kFloat, {1}, bytes_of<float>({1}), "one"));
    graph.set_tile_mapping(one, TileId(0));
    const ComputeSetId scale = graph.add_compute_set("scale"), add = graph.add_compute_set("add");
    for (std::uint32_t t = 0; t < 8; ++t) {
      const View part = x.flatten().slice(4 * t, 4 * t + 4, 0), to = y.slice(4 * t, 4 * t + 4, 0);
      graph.set_tile_mapping(part, TileId(t));
      graph.set_tile_mapping(to, TileId(t));
      const VertexId s = graph.add_vertex(scale, "Scale");
      graph.connect({s, "data", {}}, part);
      graph.set_initial_value({s, "factor", {}}, kFloat, bytes_of<float>({2}), 1);
      graph.set_tile_mapping(s, TileId(t));
      graph.set_perf_estimate(s, {20, 4});
      const VertexId a = graph.add_vertex(add, "Add<float>");
      graph.connect({a, "a", {}}, part);
      graph.connect({a, "b", {}}, one.broadcast(4, 0));
      graph.connect({a, "out", {}}, to);
      graph.set_tile_mapping(a, TileId(t));
    }
    Fifo in;
    in.handle = "x";
    in.elements = 32;
    const FifoId fifo = graph.add_fifo(in);
    graph.add_host_handle("y", y, true, false);
    const ProgramPtr body = make_program(Sequence{
        {make_program(Execute{scale, {}}), make_program(Execute{add, {}}), make_program(Copy{y.reshape({16, 2}).dim_shuffle({1, 0}), x})}});
    programs.push_back(make_program(Sequence{{make_program(HostToDevice{fifo, x}, "load"), make_program(Repeat{10, body})}}, "main"));
    programs.push_back(make_program(Print{"it's y", y, {}}));
    verify(graph, programs);
  }
};

TEST(Print, Axpy) {
  const Axpy axpy;
  expect_golden("graph/axpy.txt", print(axpy.graph, axpy.programs));
  expect_golden("graph/axpy_tile3.txt", print(axpy.graph, axpy.programs, TileId(3)));
}

TEST(Print, EveryKindOfStep) {
  Graph graph = make_graph();
  const ElementType u = ElementType::unsigned_int;
  const View x = graph.view(graph.add_variable(kFloat, {2, 4}, "x")),
             flag = graph.view(graph.add_variable(ElementType::boolean, {}, "flag"));
  const View n = graph.view(graph.add_variable(u, {1}, "n")), stamp = graph.view(graph.add_variable(u, {2}, "stamp"));
  const View replica = graph.view(graph.add_replica_index("replica"));
  for (const View& v : {x, flag, n, stamp}) graph.set_tile_mapping(v, TileId(1));
  graph.set_tile_mapping(replica, TileId(0));
  graph.set_initial_value(n, bytes_of<std::uint32_t>({3}));
  graph.set_tile_group(TileId(6), true);
  graph.set_tile_group(TileId(7), true);
  graph.images.emplace_back("font", "abc");

  Fifo out;
  out.handle = "out";
  out.to_device = false;
  out.elements = 8;
  out.mode = ReplicatedFifo::broadcast;
  out.buffering_depth = 2;
  const FifoId fifo = graph.add_fifo(out);
  const RemoteBufferId remote = graph.add_remote_buffer({"weights", kFloat, 8, 16});
  const HostFunctionId log = graph.add_host_function({"log", {{kFloat, 8}}, {{u, 1}}});
  const ComputeSetId cs = graph.add_compute_set("dot");
  const VertexId dot = graph.add_vertex(cs, "Dot");
  graph.connect({dot, "rows", {}}, x);
  graph.connect({dot, "result", {}}, graph.view(graph.add_variable(kFloat, {}, "sum")));
  graph.set_tile_mapping(graph.view(VariableId(5)), TileId(2));
  graph.set_tile_mapping(dot, TileId(2));
  const FunctionId f = graph.add_function(make_program(WriteUndef{x}), "forget");
  graph.functions()[f].in_streaming_memory = true;

  const ProgramPtr call = make_program(Call{f});
  const ProgramPtr all = make_program(Sequence{{
      make_program(Execute{cs, flag}),
      make_program(Copy{x.dim_shuffle({1, 0}).reverse(0), x.reinterpret(kFloat).reshape({4, 2})}),
      make_program(DeviceToHost{fifo, x}),
      make_program(RemoteRead{remote, x, n}),
      make_program(RemoteWrite{remote, x, {}}),
      make_program(RepeatWhile{make_program(Execute{cs, flag}), flag, true, call}),
      make_program(If{flag, call, {}}),
      make_program(Switch{n, {{-1, call}, {4, make_program(Sync{SyncScope::external})}}, make_program(Sequence{})}),
      make_program(HostCall{log, {x}, {n}}),
      make_program(LoadFunction{f}),
      make_program(Sync{SyncScope::global}),
      make_program(Error{"bad", x.index(1), flag}),
      make_program(CrossReplicaCopy{stamp, stamp.reverse(0), {{0, 0}}}),
      make_program(CycleStamp{stamp, TileId(3)}),
      make_program(Copy{replica, n}),
      make_program(Copy{n.reinterpret(kFloat), x.index(0).slice(1, 2, 0)}),
  }});
  const std::vector<ProgramPtr> programs{all};
  verify(graph, programs);
  expect_golden("graph/every_step.txt", print(graph, programs));
}

TEST(Print, Mappings) {
  Graph graph = make_graph();
  auto variable = [&](const char* name, std::vector<std::pair<Interval, std::uint32_t>> parts) {
    const View v = graph.view(graph.add_variable(kFloat, {20}, name));
    for (const auto& [i, tile] : parts) graph.set_tile_mapping(v.slice(i.begin, i.end, 0), TileId(tile));
  };
  variable("none", {});
  variable("whole", {{{0, 20}, 3}});
  variable("linear", {{{0, 6}, 1}, {{6, 12}, 2}, {{12, 18}, 3}, {{18, 20}, 4}});
  variable("gaps", {{{2, 6}, 1}, {{12, 18}, 3}});
  variable("mixed", {{{0, 2}, 5}, {{2, 8}, 1}, {{8, 14}, 2}, {{14, 20}, 3}});
  variable("two", {{{0, 10}, 0}, {{10, 20}, 1}});
  graph.add_variable(kFloat, {0, 4}, "empty");
  std::vector<std::int16_t> many(20);
  for (std::size_t i = 0; i < many.size(); ++i) many[i] = static_cast<std::int16_t>(i);
  graph.add_constant(ElementType::short_, {20}, bytes_of(many), "many");
  expect_golden("graph/mappings.txt", print(graph, {}));
}

TEST(Print, ALongListOfRunsIsCut) {
  Graph graph = make_graph();
  const View x = graph.view(graph.add_variable(kFloat, {100, 3}, "x"));
  std::vector<View> parts;
  for (std::size_t i = 0; i < 100; ++i) parts.push_back(x.index(i * 37 % 100));
  const ProgramPtr p = make_program(WriteUndef{View::concat(parts, 0)});
  EXPECT_THAT(print(graph, {&p, 1}), ::testing::HasSubstr("runs more"));
}

}  // namespace
}  // namespace pando::graph
