#include "transform/devices/merge_exchange.h"

#include "ir/checks/verify.h"
#include "transform/testing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pando::transform::testing {

using namespace ir;
using ::testing::HasSubstr;

namespace {

struct Case {
  Builder b;
  Made g{b, "f"};
  HostStreamId in[2] = {stream("a", HostStream::Direction::host_to_device), stream("b", HostStream::Direction::host_to_device)};
  HostStreamId out = stream("o", HostStream::Direction::device_to_host);

  HostStreamId stream(const std::string& name, HostStream::Direction d) { return b.module().add_stream({name, d, DType::float64, {3, 3}}); }
  TensorId load(int i) { return g.op("host_load", {}, {{"stream", in[i]}}); }
  std::string ops() {
    std::string text;
    for (OpId o : b.module().graph(g.graph).ops) text += std::string(b.module().row(o).name) + " ";
    return text;
  }
};

}  // namespace

TEST(merge_exchange, puts_transfers_side_by_side) {
  Case c;
  const TensorId x = c.g.in("x");
  c.b.push_sequence(SequenceMode::ordered);
  const TensorId a = c.load(0);
  c.b.pop_sequence();
  const TensorId y = c.g.op("matmul", {a, x}), z = c.g.op("matmul", {x, x});
  const TensorId b = c.load(1);
  c.g.ops("host_store", {z}, {{"stream", c.out}});
  c.g.out(c.g.op("add", {y, b}));
  Module& m = c.b.module();
  const MergedExchange merged = merge_exchange(m, c.g.graph, 0, m.graph(c.g.graph).ops.size());
  EXPECT_EQ(c.ops(), "matmul host_load host_load host_store matmul add ");
  ASSERT_EQ(merged.steps.size(), 1u);
  EXPECT_EQ(merged.steps[0].size(), 3u);
  EXPECT_EQ(merged.others.size(), 3u);
  EXPECT_EQ(to_string(verify(m)), "");
  EXPECT_THAT(message_of([&] { verify_overlap(m, merged); }, ErrorClass::runtime), HasSubstr("matmul"));
}

TEST(merge_exchange, data_and_the_users_order_separate_steps) {
  Case c;
  c.b.push_sequence(SequenceMode::ordered);
  const TensorId a = c.load(0), y = c.g.op("matmul", {a, a});
  c.load(1);
  c.g.ops("host_store", {y}, {{"stream", c.out}});
  c.b.pop_sequence();
  Module& m = c.b.module();
  const MergedExchange merged = merge_exchange(m, c.g.graph, 0, m.graph(c.g.graph).ops.size());
  EXPECT_EQ(c.ops(), "host_load matmul host_load host_store ");
  ASSERT_EQ(merged.steps.size(), 2u);
  EXPECT_EQ(merged.steps[1].size(), 2u);
  EXPECT_EQ(to_string(verify(m)), "");
}

TEST(merge_exchange, one_exchange_with_fresh_tensors_overlaps) {
  Case c;
  c.load(0);
  c.g.op("init", {}, {{"shape", Ints{2}}, {"dtype", DType::float32}, {"init_type", std::string("zero")}});
  c.load(1);
  Module& m = c.b.module();
  const MergedExchange merged = merge_exchange(m, c.g.graph, 0, m.graph(c.g.graph).ops.size());
  EXPECT_EQ(merged.steps.size(), 1u);
  verify_overlap(m, merged);
}

}  // namespace pando::transform::testing
