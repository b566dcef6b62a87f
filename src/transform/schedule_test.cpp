#include "transform/schedule.h"

#include "ir/checks/verify.h"
#include "transform/gradient/numeric_gradient.h"
#include "transform/testing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace pando::transform::testing {

using namespace ir;
using ::testing::ElementsAre;

namespace {

// Three products, then what reads them: in the list all three are alive at once.
struct Case {
  Builder b;
  Made g{b, "f"};
  TensorId x = g.in("x");

  TensorId product() { return g.op("matmul", {x, x}); }
  TensorId sum(TensorId t) { return g.op("sum", {t}, {{"axis", Ints{0, 1}}, {"keepdims", false}}); }
  void print(TensorId t) { g.op("print_tensor", {t}, {{"title", std::string()}}); }
  // The ops as the list has them now, by row.
  std::vector<std::string> ops() {
    std::vector<std::string> names;
    for (OpId o : b.module().graph(g.graph).ops) names.emplace_back(b.module().row(o).name);
    return names;
  }
  std::int64_t peak() { return peak_bytes(b.module(), g.graph); }
  void schedule_valid() {
    schedule(b.module());
    EXPECT_EQ(to_string(verify(b.module())), "");
  }
};

}  // namespace

TEST(schedule, keeps_less_alive_and_changes_nothing_else) {
  Case c;
  std::vector<TensorId> wide, sums;
  for (int i = 0; i < 4; ++i) wide.push_back(c.product());
  for (TensorId t : wide) sums.push_back(c.sum(t));
  c.g.out(c.g.op("add_n", sums));
  Module& m = c.b.module();
  const std::vector<HostTensor> inputs = inputs_for(m, c.g.graph);
  const HostTensor before = run(m, c.g.graph, inputs)[0];
  EXPECT_EQ(c.peak(), 72 + 4 * 72 + 8);
  c.schedule_valid();
  EXPECT_EQ(c.peak(), 72 + 72 + 4 * 8);
  EXPECT_EQ(run(m, c.g.graph, inputs)[0], before);
  const std::vector<OpId> once = m.graph(c.g.graph).ops;
  schedule(m);
  EXPECT_EQ(m.graph(c.g.graph).ops, once);
}

TEST(schedule, what_the_user_demanded_stays) {
  Case c;
  c.b.push_sequence(SequenceMode::ordered);
  const TensorId p = c.product(), q = c.product(), r = c.product();
  for (TensorId t : {c.sum(p), c.sum(q), c.sum(r)}) c.g.out(t);
  c.b.pop_sequence();
  const std::vector<OpId> before = c.b.module().graph(c.g.graph).ops;
  c.schedule_valid();
  EXPECT_EQ(c.b.module().graph(c.g.graph).ops, before);
}

TEST(schedule, what_the_outside_sees_keeps_its_order) {
  Case c;
  const TensorId p = c.product(), q = c.product(), r = c.product();
  const HostStreamId out = c.b.module().add_stream({"o", HostStream::Direction::device_to_host, DType::float64, {}});
  const TensorId sums[] = {c.sum(p), c.sum(q), c.sum(r)};
  c.print(sums[2]);
  c.g.ops("host_store", {sums[0]}, {{"stream", out}});
  c.print(sums[1]);
  for (TensorId t : sums) c.g.out(t);
  c.schedule_valid();
  // All products are summed as they are made; the print of the last sum is still the first of what is seen.
  EXPECT_THAT(c.ops(), ElementsAre("matmul", "sum", "matmul", "sum", "matmul", "sum", "print_tensor", "host_store", "print_tensor"));
}

TEST(schedule, graphs_that_print_keep_their_order_too) {
  Case c;
  GraphId printing[2];
  for (int i = 0; i < 2; ++i) {
    Made inner(c.b, "printing" + std::to_string(i));
    const TensorId t = inner.in("t");
    printing[i] = inner.graph;
    inner.out(inner.op("sum", {inner.op("print_tensor", {t}, {{"title", std::string()}})}, {{"axis", Ints{0, 1}}, {"keepdims", false}}));
  }
  const TensorId p = c.product(), q = c.product();
  // The second one would be free to come first, and would free a product.
  const TensorId first = c.g.op("call", {c.g.op("matmul", {p, q})}, {}, {printing[0]});
  const TensorId second = c.g.op("call", {q}, {}, {printing[1]});
  c.g.out(c.g.op("add", {first, second}));
  c.schedule_valid();
  std::vector<GraphId> calls;
  for (OpId o : c.b.module().graph(c.g.graph).ops) {
    for (GraphId g : c.b.module().graphs(o)) calls.push_back(g);
  }
  EXPECT_THAT(calls, ElementsAre(printing[0], printing[1]));
}

TEST(schedule, readers_of_a_tensor_stay_before_what_modifies_it) {
  Case c;
  const TensorId p = c.product(), scale = c.product(), q = c.product();
  const TensorId view = c.g.op("transpose", {p}, {{"permutation", Ints{1, 0}}}, {}, true);
  const TensorId read = c.g.op("matmul", {view, q});
  // Frees the scale, and would need no copy of p if nothing else did: but a product reads p as it was.
  c.g.op("add", {p, scale}, {}, {}, true);
  for (TensorId t : {q, read, p}) c.g.out(c.sum(t));
  c.schedule_valid();
  const std::vector<std::string> ops = c.ops();
  const auto update = std::find(ops.begin(), ops.end(), "add");
  EXPECT_EQ(std::count(ops.begin(), update, "matmul"), 4);
}

TEST(schedule, results_of_a_call_are_read_before_the_graph_runs_again) {
  Case c;
  Made inner(c.b, "inner");
  const TensorId t = inner.in("t");
  inner.out(inner.op("matmul", {t, t}));
  const auto call = [&](TensorId of) { return c.g.op("call", {of}, {}, {inner.graph}); };
  const TensorId p = c.product(), q = c.product(), r = c.product();
  const TensorId first = call(p), used = c.g.op("matmul", {first, r}), second = call(q);
  for (TensorId made : {used, second}) c.g.out(c.sum(made));
  c.schedule_valid();
  std::vector<std::string> ops = c.ops();
  std::erase_if(ops, [](const std::string& name) { return name == "sum"; });
  ASSERT_EQ(ops.size(), 6u);
  // Whatever the order of the products, one that reads the first call's result stands between the calls.
  const auto calls = std::find(ops.begin(), ops.end(), "call");
  EXPECT_THAT(std::vector<std::string>(calls, ops.end()),
              ::testing::AnyOf(ElementsAre("call", "matmul", "call"), ElementsAre("call", "matmul", "matmul", "call")));
}

TEST(schedule, what_is_computed_in_one_pass_stays_together) {
  Case c;
  std::vector<TensorId> wide, sums;
  for (int i = 0; i < 3; ++i) wide.push_back(c.g.op("exp", {c.g.op("sin", {c.x})}));
  for (TensorId t : wide) sums.push_back(c.sum(t));
  c.g.out(c.g.op("add_n", sums));
  // The sines never lie anywhere.
  EXPECT_EQ(c.peak(), 72 + 3 * 72 + 8);
  c.schedule_valid();
  EXPECT_THAT(c.ops(), ElementsAre("sin", "exp", "sum", "sin", "exp", "sum", "sin", "exp", "sum", "add_n"));
}

TEST(schedule, a_call_takes_what_its_graph_takes) {
  Case c;
  Made inner(c.b, "inner");
  const TensorId t = inner.in("t");
  const TensorId u = inner.op("matmul", {t, t}), v = inner.op("matmul", {u, t});
  inner.out(inner.op("sum", {inner.op("matmul", {u, v})}, {{"axis", Ints{0, 1}}, {"keepdims", false}}));
  c.g.out(c.g.op("call", {c.x}, {}, {inner.graph}));
  EXPECT_EQ(peak_bytes(c.b.module(), inner.graph), 72 + 3 * 72);
  EXPECT_EQ(c.peak(), 72 + 3 * 72);
}

TEST(schedule, several_devices_and_io_tiles_keep_the_list) {
  for (const bool io : {true, false}) {
    Case c;
    const TensorId p = c.product(), q = c.product(), r = c.product();
    for (TensorId t : {c.sum(p), c.sum(q), c.sum(r)}) c.g.out(t);
    c.g.out(io ? c.g.op("io_tile_copy", {c.x}, {{"tile_set", std::string("io")}})
               : c.g.op("ipu_copy", {c.x}, {{"source", std::int64_t{0}}, {"destination", std::int64_t{1}}}));
    const std::vector<OpId> before = c.b.module().graph(c.g.graph).ops;
    c.schedule_valid();
    EXPECT_EQ(c.b.module().graph(c.g.graph).ops, before) << io;
  }
}

}  // namespace pando::transform::testing
