#include "graph/interpreter.h"

#include <gmock/gmock.h>

#include <cstring>

#include "codelet/hand_made.h"

namespace pando::graph {
namespace {

using testing::ElementsAre;

// --- Codelets: y[i] = a * x[i] + 1; a running sum over what the place before holds; rows; a counter at a fixed address ------------

struct AxpbObject {
  VectorEdge x, y;
  float a;
};
bool axpb(char* first, std::uint64_t stride, std::uint64_t count, std::uint64_t*) {
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto* o = reinterpret_cast<const AxpbObject*>(first + i * stride);
    for (std::uint64_t k = 0; k < o->y.size; ++k) static_cast<float*>(o->y.data)[k] = o->a * static_cast<const float*>(o->x.data)[k] + 1;
  }
  return true;
}

struct RowSumObject {
  VectorEdge rows;
  float* sum;
};
bool row_sum(char* first, std::uint64_t, std::uint64_t, std::uint64_t*) {
  const auto* o = reinterpret_cast<const RowSumObject*>(first);
  float sum = 0;
  for (std::uint64_t r = 0; r < o->rows.size; ++r) {
    const VectorEdge& row = static_cast<const VectorEdge*>(o->rows.data)[r];
    for (std::uint64_t k = 0; k < row.size; ++k) sum += static_cast<const float*>(row.data)[k];
  }
  *o->sum = sum;
  return sum < 10;
}

struct TickObject {
  VectorEdge add;
  std::uint32_t* count;
};
bool tick(char* first, std::uint64_t, std::uint64_t, std::uint64_t*) {
  const auto* o = reinterpret_cast<const TickObject*>(first);
  auto* counter = reinterpret_cast<std::uint32_t*>(tile_context().base + 64);
  for (std::uint64_t k = 0; k < o->add.size; ++k) *counter += static_cast<const std::uint32_t*>(o->add.data)[k];
  *o->count = *counter + 100 * tile_context().tile;
  return true;
}

void add_codelets(Library& library) {
  using enum FieldKind;
  constexpr auto kScalar = FieldShape::scalar, kVector = FieldShape::vector, kRows = FieldShape::vector_of_vectors;
  const ElementType f = ElementType::float_, u = ElementType::unsigned_int;
  const auto field = hand_made_field;
  library.add_builtin(
      "test", {hand_made_codelet<AxpbObject>(
                   "Axpb", {field("x", input, kVector, f), field("y", output, kVector, f), field("a", state, kScalar, f)}, axpb),
               hand_made_codelet<RowSumObject>("RowSum", {field("rows", input, kRows, f), field("sum", output, kScalar, f)}, row_sum)});
  Codelet counter = hand_made_codelet<TickObject>("Tick", {field("add", input, kVector, u), field("count", output, kScalar, u)}, tick);
  counter.uses_tile = true;
  counter.reserved = {64, 8, "seed"};
  library.add_builtin("counter", {counter});
}

Machine four_tiles() {
  Machine m;
  m.name = "four";
  m.tiles_per_ipu = 4;
  m.bounded_memory = false;
  return m;
}

std::string floats(const std::vector<float>& values) {
  return std::string(reinterpret_cast<const char*>(values.data()), values.size() * 4);
}
std::string unsigneds(const std::vector<std::uint32_t>& values) {
  return std::string(reinterpret_cast<const char*>(values.data()), values.size() * 4);
}
template <class T>
std::vector<T> read(const Interpreter& machine, const View& view, unsigned replica = 0) {
  const Values values = machine.read(view, replica);
  std::vector<T> out(values.defined.size());
  std::memcpy(out.data(), values.bytes.data(), values.bytes.size());
  return out;
}

class InterpreterTest : public testing::Test {
 protected:
  explicit InterpreterTest(unsigned replicas = 1) : graph_(four_tiles(), replicas) { add_codelets(graph_.library()); }

  View variable(const char* name, const std::vector<float>& values) {
    const View v = graph_.view(graph_.add_variable(ElementType::float_, {values.size()}, name));
    graph_.set_tile_mapping(v, TileId(0));
    graph_.set_initial_value(v, floats(values));
    return v;
  }
  View unsigned_variable(const char* name, const std::vector<std::uint32_t>& values) {
    const View v = graph_.view(graph_.add_variable(ElementType::unsigned_int, {values.size()}, name));
    graph_.set_tile_mapping(v, TileId(0));
    graph_.set_initial_value(v, unsigneds(values));
    return v;
  }
  void axpb_vertex(ComputeSetId set, const View& x, const View& y, float a) {
    const VertexId v = graph_.add_vertex(set, "Axpb");
    graph_.set_tile_mapping(v, TileId(0));
    graph_.connect({v, "x", {}}, x);
    graph_.connect({v, "y", {}}, y);
    graph_.set_initial_value({v, "a", {}}, ElementType::float_, floats({a}), 1);
  }
  static ProgramPtr sequence(std::vector<ProgramPtr> steps) { return make_program(Sequence{std::move(steps)}); }

  Graph graph_;
};

class ReplicatedTest : public InterpreterTest {
 protected:
  ReplicatedTest() : InterpreterTest(3) {}
};

TEST_F(InterpreterTest, CopyReadsEverythingBeforeItWrites) {
  const View v = variable("v", {0, 1, 2, 3, 4, 5});
  Interpreter machine(graph_);
  machine.run(make_program(Copy{v.slice(0, 5, 0), v.slice(1, 6, 0)}));
  EXPECT_THAT(read<float>(machine, v), ElementsAre(0, 0, 1, 2, 3, 4));
  machine.run(make_program(Copy{v.reverse(0), v}));
  EXPECT_THAT(read<float>(machine, v), ElementsAre(4, 3, 2, 1, 0, 0));
}

TEST_F(InterpreterTest, CopyThroughViewsIsTheRearrangement) {
  const View a = variable("a", {1, 2, 3, 4, 5, 6}), b = variable("b", {0, 0, 0, 0, 0, 0});
  Interpreter machine(graph_);
  machine.run(make_program(Copy{a.reshape({2, 3}).dim_shuffle({1, 0}), b.reshape({3, 2})}));
  EXPECT_THAT(read<float>(machine, b), ElementsAre(1, 4, 2, 5, 3, 6));
  machine.run(make_program(Copy{a.slice(0, 1, 0).broadcast(3, 0), b.sub_sample(2, 0)}));
  EXPECT_THAT(read<float>(machine, b), ElementsAre(1, 4, 1, 5, 1, 6));
}

TEST_F(InterpreterTest, VerticesReadWhatWasThereBeforeTheComputeSet) {
  const View v = variable("v", {1, 2, 3, 4});
  const ComputeSetId set = graph_.add_compute_set("swap");
  axpb_vertex(set, v.slice(0, 2, 0), v.slice(2, 4, 0), 1);
  axpb_vertex(set, v.slice(2, 4, 0), v.slice(0, 2, 0), 1);
  Interpreter machine(graph_);
  machine.run(make_program(Execute{set, {}}));
  EXPECT_THAT(read<float>(machine, v), ElementsAre(4, 5, 2, 3));
}

TEST_F(InterpreterTest, OneVertexWithOverlappingViewsComputesInPlace) {
  const View v = variable("v", {1, 0, 0, 0});
  const ComputeSetId set = graph_.add_compute_set("chain");
  axpb_vertex(set, v.slice(0, 3, 0), v.slice(1, 4, 0), 2);
  Interpreter machine(graph_);
  machine.run(make_program(Execute{set, {}}));
  EXPECT_THAT(read<float>(machine, v), ElementsAre(1, 3, 7, 15));
}

TEST_F(InterpreterTest, RowsScalarsAndTheResultOfAComputeSet) {
  const View v = variable("v", {1, 2, 3, 4}), sum = variable("sum", {0});
  const View ok = graph_.view(graph_.add_variable(ElementType::boolean, {}, "ok"));
  const ComputeSetId set = graph_.add_compute_set("sum");
  const VertexId vertex = graph_.add_vertex(set, "RowSum");
  graph_.set_tile_mapping(vertex, TileId(0));
  graph_.connect({vertex, "rows", {}}, std::vector<View>{v.slice(0, 3, 0), v.slice(2, 4, 0).reverse(0)});
  graph_.connect({vertex, "sum", {}}, sum.index(0));
  Interpreter machine(graph_);
  machine.run(make_program(Execute{set, ok}));
  EXPECT_THAT(read<float>(machine, sum), ElementsAre(13));
  EXPECT_EQ(machine.read(ok, 0).bytes, std::string(1, '\0')) << "13 is not below 10";
}

TEST_F(InterpreterTest, ReservedRangesBeginWithTheirImageAndBelongToOneTile) {
  graph_.images.push_back({"seed", unsigneds({7})});
  const View add = unsigned_variable("add", {1, 2}), count = unsigned_variable("count", {0, 0});
  const ComputeSetId set = graph_.add_compute_set("tick");
  for (std::uint32_t tile : {0u, 3u}) {
    const VertexId v = graph_.add_vertex(set, "Tick");
    graph_.set_tile_mapping(v, TileId(tile));
    graph_.connect({v, "add", {}}, tile == 0 ? add : add.slice(0, 1, 0));
    graph_.connect({v, "count", {}}, count.index(tile == 0 ? 0 : 1));
  }
  Interpreter machine(graph_);
  machine.run(make_program(Repeat{2, make_program(Execute{set, {}})}));
  EXPECT_THAT(read<std::uint32_t>(machine, count), ElementsAre(7 + 2 * 3, 300 + 7 + 2 * 1));
}

TEST_F(InterpreterTest, DefinednessFollowsTheData) {
  const View a = graph_.view(graph_.add_variable(ElementType::float_, {4}, "a"));
  const View b = variable("b", {1, 2, 3, 4});
  const ComputeSetId set = graph_.add_compute_set("cs");
  axpb_vertex(set, a.slice(0, 2, 0), b.slice(0, 2, 0), 1);
  Interpreter machine(graph_);
  machine.run(make_program(Copy{b.slice(0, 1, 0), a.slice(0, 1, 0)}));
  EXPECT_EQ(machine.read(a, 0).defined, std::string("\1\0\0\0", 4));
  machine.run(make_program(Execute{set, {}}));
  EXPECT_EQ(machine.read(b, 0).defined, std::string("\0\0\1\1", 4)) << "one input was undefined";
  machine.run(make_program(WriteUndef{b}));
  EXPECT_EQ(machine.read(b, 0).defined, std::string(4, '\0'));
  EXPECT_ANY_THROW(machine.run(make_program(If{b.index(0), sequence({}), sequence({})})));
}

TEST_F(InterpreterTest, LoopsBranchesAndCalls) {
  const View v = variable("v", {1, 0}), count = unsigned_variable("count", {3, 2, 1, 0});
  const ComputeSetId set = graph_.add_compute_set("step");
  axpb_vertex(set, v.slice(0, 1, 0), v.slice(0, 1, 0), 2);
  const ProgramPtr execute = make_program(Execute{set, {}});
  const FunctionId function = graph_.add_function(execute, "step");
  const ProgramPtr call = make_program(Call{function});
  const ProgramPtr shift = make_program(Copy{count.slice(1, 4, 0), count.slice(0, 3, 0)});
  Interpreter machine(graph_);
  machine.run(make_program(Repeat{2, call}));
  EXPECT_THAT(read<float>(machine, v.index(0)), ElementsAre(7));
  machine.run(make_program(RepeatWhile{sequence({}), count.index(0), false, sequence({call, shift})}));
  EXPECT_THAT(read<float>(machine, v.index(0)), ElementsAre(63)) << "three rounds";
  EXPECT_THAT(read<std::uint32_t>(machine, count.index(0)), ElementsAre(0));
  machine.run(make_program(If{count.index(0), call, sequence({call, call})}));
  EXPECT_THAT(read<float>(machine, v.index(0)), ElementsAre(255));
  machine.run(make_program(Switch{count.index(0), {{-1, execute}, {0, sequence({})}}, execute}));
  EXPECT_THAT(read<float>(machine, v.index(0)), ElementsAre(255)) << "case 0 is empty";
  machine.run(make_program(Switch{count.index(0), {{-1, sequence({})}}, execute}));
  EXPECT_THAT(read<float>(machine, v.index(0)), ElementsAre(511)) << "the default ran";
}

TEST_F(InterpreterTest, FifosRemoteBuffersAndHostFunctions) {
  const View v = variable("v", {0, 0, 0, 0}), row = unsigned_variable("row", {2, 0});
  const FifoId in = graph_.add_fifo({"in", true, ElementType::float_, 2, ReplicatedFifo::replicate, 1});
  const FifoId out = graph_.add_fifo({"out", false, ElementType::float_, 4, ReplicatedFifo::replicate, 1});
  const RemoteBufferId remote = graph_.add_remote_buffer({"far", ElementType::float_, 2, 3});
  const HostFunctionId twice = graph_.add_host_function({"twice", {{ElementType::float_, 1}}, {{ElementType::float_, 1}}});
  Interpreter machine(graph_);
  EXPECT_ANY_THROW(machine.run(make_program(HostToDevice{in, v.slice(0, 2, 0)}))) << "not connected";
  float next = 1;
  std::vector<std::string> seen;
  machine.connect("in", [&](unsigned, Values& block) {
    block.bytes = floats({next, next + 1});
    next += 2;
  });
  machine.connect("out", [&](unsigned, Values& block) { seen.push_back(block.bytes); });
  machine.connect_host_function("twice", [](unsigned, const auto& inputs, const auto& outputs) {
    *static_cast<float*>(outputs[0]) = 2 * *static_cast<const float*>(inputs[0]);
  });
  machine.run(sequence({make_program(HostToDevice{in, v.slice(0, 2, 0)}), make_program(HostToDevice{in, v.slice(2, 4, 0)}),
                        make_program(RemoteWrite{remote, v, row}), make_program(RemoteRead{remote, v.slice(0, 2, 0), {}}),
                        make_program(HostCall{twice, {v.slice(3, 4, 0)}, {v.slice(2, 3, 0)}}), make_program(DeviceToHost{out, v})}));
  EXPECT_EQ(machine.remote(remote, 0).bytes, floats({3, 4, 0, 0, 1, 2}));
  EXPECT_EQ(machine.remote(remote, 0).defined, std::string("\1\1\0\0\1\1", 6));
  EXPECT_THAT(seen, ElementsAre(floats({3, 4, 8, 4})));
  machine.run(make_program(Print{"v", v, {}}));
  ASSERT_EQ(machine.printed().size(), 1u);
  EXPECT_EQ(machine.printed()[0].values.bytes, floats({3, 4, 8, 4}));
  EXPECT_ANY_THROW(machine.run(make_program(Error{"halt", v, {}})));
  EXPECT_NO_THROW(machine.run(make_program(Error{"halt", v, row.index(1)}))) << "the condition is 0";
}

TEST_F(InterpreterTest, RemoteRowsAreChecked) {
  const View v = variable("v", {0, 0}), row = unsigned_variable("row", {3});
  const RemoteBufferId remote = graph_.add_remote_buffer({"far", ElementType::float_, 2, 3});
  Interpreter machine(graph_);
  EXPECT_ANY_THROW(machine.run(make_program(RemoteRead{remote, v, row})));
}

TEST_F(ReplicatedTest, ReplicasDifferByIndexStreamAndBranchAndMeetInCopies) {
  const View v = variable("v", {0, 0}), out = unsigned_variable("out", {0});
  const View index = graph_.view(graph_.add_replica_index("replica"));
  graph_.set_tile_mapping(index, TileId(0));
  const ProgramPtr branch = make_program(If{index, make_program(Copy{v.index(1), v.index(0)}), sequence({})});
  const FifoId in = graph_.add_fifo({"in", true, ElementType::float_, 2, ReplicatedFifo::replicate, 1});
  Interpreter machine(graph_);
  machine.connect("in", [&](unsigned replica, Values& block) { block.bytes = floats({10, 20.0f + float(replica)}); });
  machine.run(sequence({make_program(HostToDevice{in, v}), branch}));
  EXPECT_THAT(read<float>(machine, v, 0), ElementsAre(10, 20));
  EXPECT_THAT(read<float>(machine, v, 2), ElementsAre(22, 22));
  machine.run(make_program(CrossReplicaCopy{index.reshape({1}), out, {{0, 1}, {1, 2}, {2, 0}}}));
  EXPECT_THAT(read<std::uint32_t>(machine, out, 0), ElementsAre(2));
  EXPECT_THAT(read<std::uint32_t>(machine, out, 1), ElementsAre(0));
}

}  // namespace
}  // namespace pando::graph
