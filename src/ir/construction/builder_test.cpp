// Tensors whose contents change: aliases, versions, outputs, and the user's order.
#include "ir/tests/op_testing.h"

namespace pando::ir {
namespace {

using namespace op_testing;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

class Tensors4 : public ::testing::Test {
 protected:
  Tensors4() : g(b.create_graph("g")), x(b.add_input(g, tensor_type(DType::float32, {4}), "x")) {}

  TensorId slice(TensorId t, std::int64_t start, std::int64_t stop) {
    const Attributes a = {{"start", Ints{start}}, {"stop", Ints{stop}}, {"step", Ints{1}}, {"axis", Ints{0}}};
    return b.op(g, "slice", std::vector{t}, a, {}, true)[0];
  }
  TensorId concat(std::vector<TensorId> ts) { return b.op(g, "concat", ts, {{"axis", std::int64_t{0}}}, {}, true)[0]; }
  // t += value, in place.
  TensorId add(TensorId t, double value) {
    return b.op(g, "add", std::vector{t, b.add_constant(g, floats({}, {value}), "c")}, {}, {}, true)[0];
  }
  // What the graph makes of {0, 1, 2, 3}: its outputs, then x.
  std::vector<std::vector<double>> run() {
    b.finish();
    std::vector<std::vector<double>> all;
    for (const HostValue& v : Interpreter(b.module()).run_graph(g, {{counted({4}), {}}})) all.push_back(numbers(v.tensor));
    return all;
  }

  Builder b;
  GraphId g;
  TensorId x;
};

using Row = std::vector<double>;

TEST_F(Tensors4, AModificationIsSeenThroughEveryName) {
  const TensorId all = add(x, 10), view = slice(x, 1, 3), part = slice(view, 1, 2);
  add(part, 100);
  for (TensorId t : {x, all, view, part}) b.add_output(g, t);
  EXPECT_THAT(run(), ElementsAre(Row{10, 11, 112, 13}, Row{10, 11, 112, 13}, Row{11, 112}, Row{112}, Row{10, 11, 112, 13}));
}

TEST_F(Tensors4, APlainOpKeepsWhatItRead) {
  const TensorId before = b.op(g, "add", std::vector{x, x})[0];
  add(x, 10);
  b.add_output(g, before);
  EXPECT_THAT(run(), ElementsAre(Row{0, 2, 4, 6}, Row{10, 11, 12, 13}));
}

TEST_F(Tensors4, AViewIsTakenAgainOnlyAfterAChange) {
  const TensorId view = slice(x, 0, 2);
  b.op(g, "add", std::vector{view, view});
  const std::size_t ops = b.module().graph(g).ops.size();
  b.op(g, "add", std::vector{view, view});
  EXPECT_EQ(b.module().graph(g).ops.size(), ops + 1);
  add(x, 1);
  b.op(g, "add", std::vector{view, view});
  // The constant, the addition, the view again, the op.
  EXPECT_EQ(b.module().graph(g).ops.size(), ops + 5);
}

TEST_F(Tensors4, ConcatOfSeveralTensorsModifiesThemAll) {
  const TensorId y = b.op(g, "add", std::vector{x, x})[0];
  const TensorId both = concat({slice(x, 2, 4), y, slice(x, 0, 1)});
  add(both, 100);
  b.add_output(g, y);
  b.add_output(g, both);
  EXPECT_THAT(run(), ElementsAre(Row{100, 102, 104, 106}, Row{102, 103, 100, 102, 104, 106, 100}, Row{100, 1, 102, 103}));
}

TEST_F(Tensors4, ConcatSeesChangesOfItsTensors) {
  const TensorId both = concat({x, slice(x, 0, 2)});
  add(slice(x, 1, 2), 50);
  b.add_output(g, both);
  EXPECT_EQ(run()[0], (Row{0, 51, 2, 3, 0, 51}));
}

TEST_F(Tensors4, AnOutputIsWhatTheTensorHoldsAtTheEnd) {
  const TensorId view = slice(x, 0, 2);
  b.add_output(g, x);
  b.add_output(g, view);
  add(x, 5);
  EXPECT_THAT(run(), ElementsAre(Row{5, 6, 7, 8}, Row{5, 6}, Row{5, 6, 7, 8}));
}

TEST_F(Tensors4, TensorsOfOtherGraphsAreRejected) {
  const GraphId other = b.create_graph("other");
  EXPECT_EQ(rejection([&] { b.op(other, "add", std::vector{x, x}); }), "tensor-of-another-graph");
  EXPECT_EQ(rejection([&] { b.add_output(other, x); }), "output-of-another-graph");
}

class Calls : public Tensors4 {
 protected:
  Calls() : callee(b.create_graph("callee")) {
    const TensorId a = b.add_input(callee, tensor_type(DType::float32, {4}), "a");
    b.op(callee, "add", std::vector{a, b.add_constant(callee, floats({}, {10}), "c")}, {}, {}, true);
  }
  OpId call(TensorId t) {
    b.op(g, "call", std::vector{t}, {}, std::vector{callee});
    return b.last_op();
  }
  GraphId callee;
};

TEST_F(Calls, OpsBehindTheCallReadWhatItLeft) {
  const TensorId before = b.op(g, "add", std::vector{x, x})[0];
  const OpId c = call(x);
  const TensorId behind = b.op(g, "add", std::vector{x, x})[0];
  add(x, 100);
  b.set_modified(c, 0);
  b.add_output(g, before);
  b.add_output(g, behind);
  EXPECT_THAT(run(), ElementsAre(Row{0, 2, 4, 6}, Row{20, 22, 24, 26}, Row{110, 111, 112, 113}));
}

TEST_F(Calls, SayingItTwiceIsSayingItOnce) {
  const OpId c = call(x);
  b.set_modified(c, 0);
  b.set_modified(c, 0);
  EXPECT_EQ(b.module().results(c).size(), 1u);
  EXPECT_EQ(run()[0], (Row{10, 11, 12, 13}));
}

TEST_F(Calls, AViewThatACallModifiesModifiesItsBase) {
  const TensorId y = b.op(g, "add", std::vector{x, x})[0], both = concat({slice(x, 0, 2), slice(y, 0, 2)});
  b.set_modified(call(both), 0);
  b.add_output(g, y);
  EXPECT_THAT(run(), ElementsAre(Row{10, 12, 4, 6}, Row{10, 11, 2, 3}));
}

TEST_F(Calls, AViewReadBeforeItIsSaidIsRejected) {
  const TensorId view = slice(x, 0, 2);
  const OpId c = call(x);
  // The view was taken before the call: this would read what the call has overwritten.
  b.op(g, "add", std::vector{view, view});
  EXPECT_EQ(rejection([&] { b.set_modified(c, 0); }), "modified-too-late");
  EXPECT_EQ(b.module().results(c).size(), 0u);
}

TEST_F(Calls, AViewTakenBehindTheCallIsOfWhatItLeft) {
  const OpId c = call(x);
  const TensorId view = slice(x, 0, 2);
  const TensorId sum = b.op(g, "add", std::vector{view, view})[0];
  b.set_modified(c, 0);
  b.add_output(g, sum);
  b.add_output(g, view);
  EXPECT_THAT(run(), ElementsAre(Row{20, 22}, Row{10, 11}, Row{10, 11, 12, 13}));
}

TEST_F(Calls, ARemoteVariableIsNoOperand) {
  State s;
  s.type = b.module().type(tensor_type(DType::float32, {4}));
  s.buffer = b.module().add_buffer({1, DType::float32, {4}, 1, {}});
  const TensorId far = b.add_variable(s, counted({4}), "far");
  EXPECT_EQ(rejection([&] { b.op(b.module().main_graph(), "add", std::vector{far, far}); }), "remote-variable-used");
}

class Order : public ::testing::Test {
 protected:
  Order() : g(b.create_graph("g")), h(b.create_graph("h")) {}
  // An op with a number.
  void op(int n) { in(g, n); }
  void in(GraphId graph, int n) {
    b.op(graph, "init", {}, {{"shape", Ints{}}, {"dtype", DType::float32}, {"init_type", std::string("zero")}});
    number[b.last_op().value] = n;
  }
  std::vector<std::pair<int, int>> edges(GraphId graph) {
    std::vector<std::pair<int, int>> all;
    for (const auto& [first, then] : b.module().graph(graph).after) all.emplace_back(number[first.value], number[then.value]);
    return all;
  }
  template <class F>
  void block(SequenceMode mode, F f) {
    b.push_sequence(mode);
    f();
    b.pop_sequence();
  }
  static constexpr auto ordered = SequenceMode::ordered, unordered = SequenceMode::unordered, pass = SequenceMode::pass;

  Builder b;
  GraphId g, h;
  std::map<std::uint32_t, int> number;
};

TEST_F(Order, OfOneBlock) {
  op(0);
  block(ordered, [&] {
    op(1);
    op(2);
    op(3);
  });
  op(4);
  EXPECT_THAT(edges(g), ElementsAre(Pair(1, 2), Pair(2, 3)));
}

TEST_F(Order, TwoBlocksAreNotOrdered) {
  block(ordered, [&] { op(1); });
  block(ordered, [&] { op(2); });
  EXPECT_THAT(edges(g), IsEmpty());
}

TEST_F(Order, NestedOrderedBlocksGoOn) {
  block(ordered, [&] {
    op(1);
    block(ordered, [&] { block(ordered, [&] { op(2); }); });
    block(ordered, [&] {});
    op(3);
  });
  EXPECT_THAT(edges(g), ElementsAre(Pair(1, 2), Pair(2, 3)));
}

TEST_F(Order, AnUnorderedBlockCountsAsOneOp) {
  block(ordered, [&] {
    op(1);
    block(unordered, [&] {
      op(2);
      op(3);
    });
    op(4);
    op(5);
  });
  EXPECT_THAT(edges(g), UnorderedElementsAre(Pair(1, 2), Pair(1, 3), Pair(2, 4), Pair(3, 4), Pair(4, 5)));
}

TEST_F(Order, ChainsInsideAnUnorderedBlock) {
  block(ordered, [&] {
    op(1);
    block(unordered, [&] {
      block(ordered, [&] {
        op(2);
        op(3);
      });
      op(4);
    });
    op(5);
  });
  EXPECT_THAT(edges(g), UnorderedElementsAre(Pair(1, 2), Pair(2, 3), Pair(1, 4), Pair(3, 5), Pair(4, 5)));
}

TEST_F(Order, AnUnorderedBlockAlone) {
  block(unordered, [&] {
    op(1);
    op(2);
  });
  EXPECT_THAT(edges(g), IsEmpty());
}

TEST_F(Order, ABlockThatPassesLeavesTheOuterOneAlone) {
  block(ordered, [&] {
    op(1);
    block(pass, [&] {
      op(2);
      block(ordered, [&] {
        op(3);
        op(4);
      });
    });
    op(5);
  });
  EXPECT_THAT(edges(g), UnorderedElementsAre(Pair(3, 4), Pair(1, 5)));
}

TEST_F(Order, GraphsAndContextsHaveTheirOwn) {
  block(ordered, [&] {
    op(1);
    in(h, 2);
    b.set_context(Context::accumulate_outer);
    op(3);
    b.set_context(Context::normal);
    op(4);
    in(h, 5);
    // A block that has nothing in a graph changes nothing there.
    block(unordered, [&] { in(h, 6); });
    op(7);
  });
  EXPECT_THAT(edges(g), ElementsAre(Pair(1, 4), Pair(4, 7)));
  EXPECT_THAT(edges(h), ElementsAre(Pair(2, 5), Pair(5, 6)));
}

}  // namespace
}  // namespace pando::ir
