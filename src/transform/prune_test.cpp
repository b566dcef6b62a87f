#include "transform/prune.h"

#include "ir/checks/verify.h"
#include "ir/text/print.h"
#include "transform/gradient/numeric_gradient.h"
#include "transform/testing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pando::transform::testing {

using namespace ir;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(prune, takes_out_what_nobody_needs_and_keeps_the_order_through_it) {
  Builder b;
  const HostStreamId stream = b.module().add_stream({"s", HostStream::Direction::device_to_host, DType::float64, {3, 3}});
  Made g(b, "f");
  const TensorId x = g.in("x");
  b.push_sequence(SequenceMode::ordered);
  g.ops("host_store", {x}, {{"stream", stream}});
  g.op("add", {g.op("matmul", {x, x}, {}, {}), x});
  g.ops("host_store", {x}, {{"stream", stream}});
  b.pop_sequence();
  g.out(g.op("add", {x, x}));
  Module& m = b.module();
  ASSERT_EQ(m.graph(g.graph).after.size(), 3u);
  EXPECT_EQ(prune(m), 2u);
  EXPECT_THAT(print_graph(m, g.graph), Not(HasSubstr("matmul")));
  EXPECT_EQ(m.graph(g.graph).after, (std::vector<std::pair<OpId, OpId>>{{m.graph(g.graph).ops[0], m.graph(g.graph).ops[1]}}));
  EXPECT_EQ(to_string(verify(m)), "");
  EXPECT_EQ(prune(m), 0u);
}

TEST(prune, keeps_calls_of_graphs_with_effects_and_modifications_of_inputs) {
  Builder b;
  Made prints(b, "prints");
  const TensorId t = prints.in("t");
  prints.ops("print_tensor", {t}, {{"title", std::string("t")}});
  Made pure(b, "pure");
  const TensorId p = pure.in("p");
  pure.out(pure.op("add", {p, p}));
  Made g(b, "f");
  const TensorId x = g.in("x"), y = g.in("y");
  g.ops("call", {x}, {}, {prints.graph});
  g.ops("call", {x}, {}, {pure.graph});
  g.op("add", {y, x}, {}, {}, true);
  EXPECT_EQ(prune(b.module()), 1u);
  EXPECT_EQ(b.module().graph(g.graph).ops.size(), 2u);
}

}  // namespace pando::transform::testing
