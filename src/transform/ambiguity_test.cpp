#include "transform/ambiguity.h"

#include "transform/testing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pando::transform::testing {

using namespace ir;
using ::testing::HasSubstr;
using ::testing::StartsWith;

namespace {

struct Case {
  Builder b;
  Made g{b, "f"};
  TensorId x = g.in("x"), w = g.in("w");

  TensorId in_place(std::string_view op, std::vector<TensorId> operands, const Attributes& a = {}) {
    return g.op(op, std::move(operands), a, {}, true);
  }
  TensorId rows(TensorId t, std::int64_t from, std::int64_t to) {
    return in_place("slice", {t}, {{"start", Ints{from}}, {"stop", Ints{to}}, {"step", Ints{1}}, {"axis", Ints{0}}});
  }
  std::size_t found() { return ambiguities(b).size(); }
};

}  // namespace

TEST(ambiguity, a_read_and_a_modification_without_order) {
  Case c;
  c.g.op("add", {c.x, c.w});
  c.in_place("add", {c.x, c.w});
  EXPECT_EQ(c.found(), 1u);
  const std::string text = message_of([&] { reject_ambiguity(c.b); });
  EXPECT_THAT(text, StartsWith("Inplacing ambiguity detected. add_"));
  EXPECT_THAT(text, HasSubstr("'f/x'"));
}

TEST(ambiguity, data_orders) {
  Case c;
  const TensorId y = c.in_place("add", {c.x, c.w});
  const TensorId z = c.g.op("add", {y, c.w});
  c.g.op("copy_var_update_", {c.w, z});
  EXPECT_EQ(c.found(), 0u);
  EXPECT_EQ(message_of([&] { reject_ambiguity(c.b); }), "no error");
}

TEST(ambiguity, reading_the_tensor_itself_after_it_was_modified_needs_an_order) {
  Case c;
  c.in_place("add", {c.x, c.w});
  c.g.op("matmul", {c.x, c.w});
  EXPECT_EQ(c.found(), 1u);
}

TEST(ambiguity, in_sequence_orders) {
  Case c;
  c.b.push_sequence(SequenceMode::ordered);
  c.g.op("matmul", {c.x, c.w});
  c.in_place("add", {c.x, c.w});
  c.g.op("matmul", {c.x, c.w});
  c.in_place("add", {c.x, c.w});
  c.b.pop_sequence();
  EXPECT_EQ(c.found(), 0u);
  // Behind the sequence nothing is ordered.
  c.in_place("add", {c.x, c.w});
  EXPECT_EQ(c.found(), 1u);
}

TEST(ambiguity, order_through_other_ops) {
  Case c;
  const TensorId y = c.g.op("matmul", {c.x, c.w});
  TensorId z = y;
  for (int i = 0; i < 10; ++i) z = c.g.op("add", {z, c.w});
  c.in_place("add", {c.x, z});
  EXPECT_EQ(c.found(), 0u);
}

TEST(ambiguity, views_share_storage_where_they_overlap) {
  Case c;
  const TensorId top = c.rows(c.x, 0, 2), bottom = c.rows(c.x, 2, 3),
                 row = c.g.b.add_input(c.g.graph, tensor_type(DType::float64, {1, 3}), "row");
  c.in_place("add", {bottom, row});
  c.g.op("add", {top, row});
  EXPECT_EQ(c.found(), 0u);
  c.g.op("add", {c.rows(c.x, 1, 3), row});
  EXPECT_EQ(c.found(), 1u);
}

TEST(ambiguity, a_call_reads_its_inputs_and_modifies_what_it_hands_back) {
  Case c;
  Made inner(c.b, "inner");
  const TensorId t = inner.in("t", kMatrix, true), u = inner.in("u");
  inner.op("add", {t, u}, {}, {}, true);
  c.g.ops("call", {c.x, c.w}, {}, {inner.graph});
  EXPECT_EQ(c.found(), 0u);
  // A call comes after the call before it.
  c.g.ops("call", {c.x, c.w}, {}, {inner.graph});
  EXPECT_EQ(c.found(), 0u);
  // Any other op does not.
  c.g.op("relu", {c.x});
  EXPECT_EQ(c.found(), 1u);
}

}  // namespace pando::transform::testing
