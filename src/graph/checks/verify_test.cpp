// Each check of verify(), with a graph that trips it.

#include "base/testing/processor_time.h"
#include "graph/graph.h"
#include "graph/test_codelets.h"

namespace pando::graph {
namespace {

using testing::expect_error;
using testing::make_graph;

constexpr ElementType kFloat = ElementType::float_;

struct Verify : ::testing::Test {
  Graph graph = make_graph();
  ComputeSetId cs = graph.add_compute_set("step");

  View v(const Shape& shape, const char* name = "x", ElementType type = kFloat) {
    const View view = graph.view(graph.add_variable(type, shape, name));
    graph.set_tile_mapping(view, TileId(0));
    return view;
  }
  View constant(const char* name = "c") {
    const View view = graph.view(graph.add_constant(kFloat, {4}, std::string(16, '\0'), name));
    graph.set_tile_mapping(view, TileId(0));
    return view;
  }
  VertexId add(const View& a, const View& b, const View& out) {
    const VertexId x = graph.add_vertex(cs, "Add<float>");
    graph.connect({x, "a", {}}, a);
    graph.connect({x, "b", {}}, b);
    graph.connect({x, "out", {}}, out);
    graph.set_tile_mapping(x, TileId(1));
    return x;
  }
  VertexId scale(const View& data) {
    const VertexId x = graph.add_vertex(cs, "Scale");
    graph.connect({x, "data", {}}, data);
    graph.set_tile_mapping(x, TileId(1));
    return x;
  }
  template <class Body>
  void check(Body body) {
    const ProgramPtr program = make_program(std::move(body), "main/step");
    verify(graph, {&program, 1});
  }
  template <class Exception, class Body>
  void rejected(Body body, const std::string& text) {
    expect_error<Exception>([&] { check(body); }, text);
  }
};

using VerifyMapping = Verify;
using VerifyRaces = Verify;
using VerifyPrograms = Verify;

// --- Mapping and connections ------------------------------------------------------------------------------------------------

TEST_F(VerifyMapping, OfVariablesThatAreUsed) {
  const View x = graph.view(graph.add_variable(kFloat, {4}, "x"));
  check(Sequence{});  // nobody uses it
  graph.set_tile_mapping(x.slice(0, 3, 0), TileId(0));
  rejected<poplar::invalid_tile_mapping>(Copy{x.slice(0, 2, 0), v({2}, "y")},
                                         "variable 'x' of type float and shape {4} is used, and element 3 of it has no tile mapping");
  graph.set_tile_mapping(x.slice(3, 4, 0), TileId(1));
  check(Copy{x.slice(0, 2, 0), v({2}, "y")});
}

TEST_F(VerifyMapping, OfConstantsAndOfWhatFunctionsVerticesAndHandlesUse) {
  const View c = graph.view(graph.add_constant(kFloat, {}, "abcd", "two"));
  const View y = graph.view(graph.add_variable(kFloat, {}, "y")), z = graph.view(graph.add_variable(kFloat, {}, "z"));
  graph.add_host_handle("z", z, true, false);
  rejected<poplar::invalid_tile_mapping>(Sequence{}, "variable 'z'");
  graph.set_tile_mapping(z, TileId(0));
  graph.add_function(make_program(Sequence{{make_program(Print{"y", y, {}})}}), "f");
  rejected<poplar::invalid_tile_mapping>(Sequence{}, "variable 'y'");
  graph.set_tile_mapping(y, TileId(0));
  rejected<poplar::invalid_tile_mapping>(Copy{c, y}, "constant 'two'");
  graph.set_tile_mapping(c, TileId(0));
  check(Copy{c, y});
}

TEST_F(VerifyMapping, OfVertices) {
  const VertexId x = graph.add_vertex(cs, "Scale");
  graph.connect({x, "data", {}}, v({4}));
  rejected<poplar::invalid_tile_mapping>(Sequence{}, "vertex 0 (Scale) of compute set 'step' has no tile mapping");
  graph.set_tile_mapping(x, TileId(0));
  check(Sequence{});
}

TEST_F(VerifyMapping, EveryEdgeIsConnected) {
  const VertexId x = graph.add_vertex(cs, "Dot");
  graph.set_tile_mapping(x, TileId(0));
  graph.connect({x, "result", {}}, v({}));
  rejected<poplar::graph_connection_error>(Sequence{}, "field 'rows' of vertex 0 (Dot) of compute set 'step' is not connected");
  graph.set_field_size({x, "rows", {}}, 2);
  graph.connect({x, "rows", 1}, v({4}));
  rejected<poplar::graph_connection_error>(Sequence{}, "row 0 of field 'rows'");
  graph.connect({x, "rows", 0}, v({4}));
  check(Sequence{});
  const VertexId y = graph.add_vertex(cs, "Scale");
  graph.set_tile_mapping(y, TileId(0));
  graph.set_field_size({y, "data", {}}, 2);
  graph.connect({y, "data", 0}, v({}));
  rejected<poplar::graph_connection_error>(Sequence{}, "field 'data' of vertex 1 (Scale)");
}

TEST_F(VerifyMapping, TensorsOfOtherGraphs) {
  Graph other = make_graph();
  for (int i = 0; i < 9; ++i) other.add_variable(kFloat, {4}, "far");
  rejected<poplar::graph_connection_error>(WriteUndef{other.view(VariableId(8))}, "belongs to another graph");
}

// --- Races --------------------------------------------------------------------------------------------------------------------

TEST_F(VerifyRaces, TwoWriters) {
  const View x = v({8});
  scale(x.slice(0, 5, 0));
  scale(x.slice(4, 8, 0));
  rejected<poplar::graph_cycle_error>(
      Sequence{},
      "field 'Scale.data' of vertex 1: elements [4, 5) of variable 'x' are written here and written by field 'Scale.data' of "
      "vertex 0 in the same compute set 'step'");
}

TEST_F(VerifyRaces, WriterAndReader) {
  const View x = v({8}), y = v({4}, "y"), z = v({4}, "z");
  add(x.slice(0, 4, 0), x.slice(0, 4, 0), y);
  check(Sequence{});
  add(x.slice(0, 4, 0), x.slice(4, 8, 0), z);  // two readers of one element
  check(Sequence{});
  scale(x.slice(7, 8, 0));
  rejected<poplar::graph_cycle_error>(Sequence{},
                                      "field 'Add<float>.b' of vertex 1: elements [7, 8) of variable 'x' are read here and "
                                      "written by field 'Scale.data' of vertex 2");
}

TEST_F(VerifyRaces, OneVertexMayComputeInPlace) {
  const View x = v({8});
  add(x.slice(0, 4, 0), x.slice(1, 5, 0), x.slice(0, 4, 0));
  check(Sequence{});
}

TEST_F(VerifyRaces, OneVertexWritesAnElementOnce) {
  const Field a = hand_made_field("a", FieldKind::output, FieldShape::vector, kFloat),
              b = hand_made_field("b", FieldKind::inout, FieldShape::vector, kFloat);
  const Field matrix = hand_made_field("rows", FieldKind::output, FieldShape::vector_of_vectors, kFloat);
  graph.library().add_builtin("writers", {hand_made_codelet("Two", {a, b}), hand_made_codelet("Rows", {matrix})});
  const View x = v({8}), y = v({3, 4}, "y");
  const VertexId one = scale(x.broadcast(2, 0));
  rejected<poplar::graph_cycle_error>(Sequence{},
                                      "field 'Scale.data' of vertex 0: the tensor of shape {16} that is written holds an element twice");
  graph.connect({one, "data", {}}, v({4}, "z"));
  const VertexId two = graph.add_vertex(cs, "Two"), rows = graph.add_vertex(cs, "Rows");
  graph.set_tile_mapping(two, TileId(1));
  graph.set_tile_mapping(rows, TileId(1));
  graph.connect({two, "a", {}}, x.slice(0, 4, 0));
  graph.connect({two, "b", {}}, x.slice(4, 8, 0));
  graph.connect({rows, "rows", {}}, y);
  check(Sequence{});
  graph.connect({two, "b", {}}, x.slice(3, 8, 0));
  rejected<poplar::graph_cycle_error>(
      Sequence{}, "field 'Two.b' of vertex 1: elements [3, 4) of variable 'x' are written here and written by field 'Two.a' of vertex 1");
  graph.connect({two, "b", {}}, x.slice(4, 8, 0));
  graph.connect({rows, "rows", {}}, std::vector<View>{y.index(0), y.index(2), y.index(0).reverse(0)});
  rejected<poplar::graph_cycle_error>(Sequence{}, "field 'Rows.rows' of vertex 2: elements [0, 4) of variable 'y'");
}

TEST_F(VerifyRaces, OtherComputeSetsDoNotCount) {
  const View x = v({8});
  scale(x);
  cs = graph.add_compute_set("next");
  scale(x);
  check(Sequence{});
}

TEST_F(VerifyRaces, InStridedViews) {
  const View x = v({6, 6});
  for (std::size_t i = 0; i < 6; ++i) scale(x.slice(i, i + 1, 1).flatten());
  check(Sequence{});
  add(x.index(2).slice(3, 4, 0), v({1}, "y"), v({1}, "z"));
  rejected<poplar::graph_cycle_error>(Sequence{}, "elements [15, 16) of variable 'x'");
}

TEST_F(VerifyRaces, ManyReadersOfAWrittenVariable) {
  const View x = v({40000}), y = v({20000}, "y");
  const double begin = processor_seconds();
  for (std::size_t i = 0; i < 20000; ++i) {
    const VertexId s = scale(x.slice(20000 + i, 20001 + i, 0));
    (void)s;
    add(x.slice(0, 20000, 0), x.slice(0, 20000, 0), y.slice(i, i + 1, 0));
  }
  check(Sequence{});
  EXPECT_LT(processor_seconds() - begin, 1.0 * kSlowerBuild);
}

// --- Programs -----------------------------------------------------------------------------------------------------------------

TEST_F(VerifyPrograms, Copies) {
  const View x = v({2, 3}), y = v({6}, "y");
  check(Copy{x, y});
  check(Copy{x.slice(0, 1, 1).broadcast(3, 1), y});
  rejected<poplar::control_program_error>(
      Copy{x, y.slice(0, 5, 0)},
      "Copy ('main/step'): a tensor of shape {2,3}, which has 6 elements, and the destination of shape {5}, which has 5");
  rejected<poplar::type_error>(Copy{x, v({6}, "i", ElementType::int_)}, "from type float to type int");
  rejected<poplar::control_program_error>(Copy{x, y.slice(0, 1, 0).broadcast(6, 0)}, "the destination of shape {6} holds an element twice");
  rejected<poplar::control_program_error>(Copy{y.slice(0, 4, 0), constant()}, "writes constant 'c'");
  rejected<poplar::control_program_error>(Copy{View(), y}, "Copy: the source ('main/step'): the tensor is not valid");
  rejected<poplar::control_program_error>(Copy{y, View()}, "not valid");
}

TEST_F(VerifyPrograms, Streams) {
  Fifo f;
  f.handle = "in";
  f.elements = 4;
  const FifoId in = graph.add_fifo(f);
  f.handle = "out";
  f.to_device = false;
  const FifoId out = graph.add_fifo(f);
  const View x = v({4});
  check(HostToDevice{in, x});
  check(DeviceToHost{out, x});
  rejected<poplar::control_program_error>(HostToDevice{out, x}, "stream 'out' goes from the device to the host");
  rejected<poplar::control_program_error>(DeviceToHost{in, x}, "stream 'in' goes from the host to the device");
  rejected<poplar::control_program_error>(HostToDevice{in, v({5})}, "shape {5}, which has 5 elements, and stream 'in', which has 4");
  rejected<poplar::type_error>(DeviceToHost{out, v({4}, "i", ElementType::int_)}, "from type int to type float");
  rejected<poplar::control_program_error>(HostToDevice{in, constant()}, "writes constant");
  rejected<poplar::control_program_error>(HostToDevice{FifoId(7), x}, "Copy from a stream ('main/step'): number 7; the graph has 2");
}

TEST_F(VerifyPrograms, RemoteBuffers) {
  const RemoteBufferId b = graph.add_remote_buffer({"weights", kFloat, 4, 3});
  const View offset = v({2}, "offset", ElementType::unsigned_int);
  check(RemoteRead{b, v({4}), {}});
  check(RemoteWrite{b, v({2, 4}), offset});
  check(RemoteRead{b, v({2, 4}), v({2}, "signed", ElementType::int_)});
  rejected<poplar::control_program_error>(RemoteRead{b, v({4}), offset}, "2 rows of remote buffer 'weights', which has 8");
  rejected<poplar::control_program_error>(RemoteWrite{b, v({8}), {}}, "1 row of remote buffer 'weights', which has 4");
  rejected<poplar::type_error>(RemoteRead{b, v({8}), v({2}, "i")}, "the offsets have type float, not unsigned int");
  rejected<poplar::type_error>(RemoteRead{b, v({4}, "h", ElementType::half), {}}, "half");
  rejected<poplar::control_program_error>(RemoteRead{RemoteBufferId(3), v({4}), {}}, "number 3; the graph has 1");
}

TEST_F(VerifyPrograms, Predicates) {
  const ProgramPtr body = make_program(Sequence{});
  check(If{v({1}, "p", ElementType::boolean), body, {}});
  rejected<poplar::control_program_error>(If{v({2}, "p", ElementType::boolean), body, {}},
                                          "If: the predicate ('main/step'): takes one element; the tensor has shape {2}");
  rejected<poplar::type_error>(If{v({}), body, body}, "takes type bool, int, unsigned int; the tensor has float");
  rejected<poplar::control_program_error>(RepeatWhile{body, v({3}, "p", ElementType::int_), true, body}, "RepeatWhileFalse: the predicate");
  rejected<poplar::control_program_error>(Switch{v({2}, "s", ElementType::int_), {}, body}, "Switch: the control");
  rejected<poplar::type_error>(Switch{v({}, "s"), {}, body}, "Switch: the control");
  rejected<poplar::control_program_error>(Switch{v({}, "s", ElementType::int_), {{3, body}, {1, body}, {3, body}}, body},
                                          "two cases for value 3");
  rejected<poplar::control_program_error>(Error{"stop", v({2}), v({2}, "p", ElementType::int_)}, "AbortOnCondition");
  rejected<poplar::type_error>(Execute{cs, v({}, "r")}, "Execute: the result");
  rejected<poplar::control_program_error>(Execute{ComputeSetId(9), {}}, "number 9; the graph has 1");
}

TEST_F(VerifyPrograms, ChecksWhatIsNested) {
  const ProgramPtr bad = make_program(Print{"x", View(), {}}, "deep");
  rejected<poplar::control_program_error>(Repeat{3, make_program(If{v({}, "p", ElementType::int_), make_program(Sequence{{bad}}), {}})},
                                          "PrintTensor ('deep')");
  rejected<poplar::control_program_error>(Switch{v({}, "s", ElementType::int_), {{1, bad}}, {}}, "PrintTensor ('deep')");
  rejected<poplar::control_program_error>(RepeatWhile{bad, v({}, "p", ElementType::int_), true, {}}, "PrintTensor ('deep')");
  graph.add_function(bad, "f");
  rejected<poplar::control_program_error>(Sequence{}, "PrintTensor ('deep')");
}

// Each sequence has the one before twice: a few nodes, and more steps than anybody can write out.
TEST_F(VerifyPrograms, DoublingsAreCounted) {
  const auto doubled = [](int times) {
    ProgramPtr p = make_program(Sequence{});
    for (int i = 0; i < times; ++i) p = make_program(Sequence{{p, p}});
    return p;
  };
  check(Sequence{{doubled(20)}});
  rejected<poplar::control_program_error>(Sequence{{doubled(24)}},
                                          "program 0 has 33554432 steps when what it repeats is written out; at most 16777216");
  rejected<poplar::control_program_error>(Repeat{3, doubled(40)}, "program 0 has 2199023255552 steps");
  rejected<poplar::control_program_error>(Sequence{{doubled(400)}}, "more than 2^64 steps");
  graph.add_function(doubled(40), "f");
  rejected<poplar::control_program_error>(Sequence{}, "function 'f' has 2199023255551 steps");
}

TEST_F(VerifyPrograms, Functions) {
  rejected<poplar::control_program_error>(Call{FunctionId(0)}, "Call of a function ('main/step'): number 0; the graph has 0");
  rejected<poplar::control_program_error>(LoadFunction{FunctionId()}, "load of a function");
  const FunctionId f = graph.add_function(make_program(Sequence{}), "f");
  const FunctionId g = graph.add_function(make_program(Repeat{2, make_program(Call{f})}), "g");
  check(Sequence{{make_program(Call{g}), make_program(Call{f}), make_program(LoadFunction{f})}});
  graph.functions()[f].body = make_program(Sequence{{make_program(Call{g})}});
  rejected<poplar::graph_recursion_error>(Call{g}, "a function calls itself: function 0 'f' -> 1 'g' -> 0 'f'");
}

TEST_F(VerifyPrograms, HostFunctions) {
  const HostFunctionId f = graph.add_host_function({"log", {{kFloat, 4}}, {{ElementType::int_, 1}}});
  const View x = v({4}), i = v({}, "i", ElementType::int_);
  check(HostCall{f, {x}, {i}});
  rejected<poplar::control_program_error>(HostCall{f, {}, {i}}, "Call of host function 'log' ('main/step') with 0 inputs; it has 1");
  rejected<poplar::control_program_error>(HostCall{f, {v({3})}, {i}}, "inputs[0] of 'log', which has 4");
  rejected<poplar::type_error>(HostCall{f, {x}, {v({})}}, "from type float to type int");
  rejected<poplar::control_program_error>(HostCall{HostFunctionId(4), {}, {}}, "number 4");
}

TEST_F(VerifyPrograms, WritesOfOtherSteps) {
  rejected<poplar::control_program_error>(WriteUndef{constant()}, "WriteUndef ('main/step'): writes constant 'c'");
  check(CycleStamp{v({2}, "t", ElementType::unsigned_int), TileId(7)});
  rejected<poplar::invalid_tile_mapping>(CycleStamp{v({2}, "t", ElementType::unsigned_int), TileId(8)}, "of tile 8");
  rejected<poplar::control_program_error>(CycleStamp{v({3}, "t", ElementType::unsigned_int), TileId(0)}, "cycle count");
  rejected<poplar::type_error>(CycleStamp{v({2}, "t"), TileId(0)}, "cycle count");
}

TEST_F(VerifyPrograms, Replicas) {
  const View x = v({4}), y = v({4}, "y");
  check(CrossReplicaCopy{x, y, {{0, 0}}});
  rejected<poplar::graph_replication_error>(CrossReplicaCopy{x, y, {{0, 1}}}, "from replica 0 to 1; the graph has 1");
  rejected<poplar::graph_replication_error>(CrossReplicaCopy{x, y, {{0, 0}, {0, 0}}}, "replica 0 receives from two replicas");
  rejected<poplar::control_program_error>(CrossReplicaCopy{x, y.slice(0, 3, 0), {{0, 0}}}, "shape {3}");
}

}  // namespace
}  // namespace pando::graph
