#include "transform/expand.h"

#include "ir/checks/verify.h"
#include "ir/op_table.h"
#include "ir/semantics/samples.h"
#include "ir/text/print.h"
#include "transform/gradient/autodiff.h"
#include "transform/gradient/numeric_gradient.h"
#include "transform/testing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace pando::transform::testing {

using namespace ir;
using ::testing::HasSubstr;
using ::testing::Not;

namespace {

double tolerance_of(DType t) { return t == DType::float16 ? 4e-3 : 2e-5; }

std::string difference(const HostTensor& a, const HostTensor& b) {
  if (a.dtype() != b.dtype() || a.shape() != b.shape()) return "another type";
  for (std::int64_t i = 0; i < a.elements(); ++i) {
    const double x = a.number(i), y = b.number(i);
    if (x == y || (std::isnan(x) && std::isnan(y))) continue;
    const double allowed = is_floating(a.dtype()) ? tolerance_of(a.dtype()) * (1 + std::abs(x)) : 0;
    if (!(std::abs(x - y) <= allowed)) return fmt::format("element {}: {} and {}", i, x, y);
  }
  return {};
}

}  // namespace

TEST(expand, every_row_means_what_its_expansion_means) {
  std::size_t tried = 0;
  for (const OpRow* row : op_table()) {
    if (!row->expand || !row->samples) continue;
    for (const Sample& s : row->samples()) {
      Builder b;
      Made g(b, "f");
      std::vector<TensorId> inputs;
      for (const Sample::Operand& o : s.operands) inputs.push_back(g.in("x", tensor_type(o.dtype, o.shape)));
      for (TensorId t : g.ops(row->name, inputs, s.attributes, {}, s.in_place)) g.out(t);
      b.finish();
      const std::vector<HostTensor> data = ir::sample_data(s, 3);
      const std::vector<HostTensor> whole = run(b.module(), g.graph, data);
      EXPECT_EQ(transform::expand(b.module()) > 0, true) << row->name;
      EXPECT_EQ(to_string(verify(b.module())), "") << row->name;
      const std::vector<HostTensor> parts = run(b.module(), g.graph, data);
      for (std::size_t i = 0; i < whole.size(); ++i) EXPECT_EQ(difference(whole[i], parts[i]), "") << row->name << ", result " << i;
      ++tried;
    }
  }
  EXPECT_GT(tried, 0u);
}

TEST(expand, keeps_the_users_order_and_what_is_asked_for) {
  Builder b;
  Made g(b, "f");
  const TensorId x = g.in("x");
  b.push_sequence(SequenceMode::ordered);
  const TensorId y = g.op("add", {x, x});
  const TensorId s = g.op("add_n", {x, x, x, y});
  const TensorId z = g.op("add", {x, x});
  b.pop_sequence();
  g.out(s);
  g.out(z);
  EXPECT_EQ(transform::expand(b.module(), [](const OpRow& row) { return row.name == "add_n"; }), 0u);
  EXPECT_EQ(transform::expand(b.module()), 1u);
  EXPECT_THAT(print_graph(b.module(), g.graph), Not(HasSubstr("add_n(")));
  // The op before the sum comes before each of three adds, those before the op behind it.
  EXPECT_EQ(b.module().graph(g.graph).after.size(), 6u);
  EXPECT_EQ(to_string(verify(b.module())), "");
}

TEST(decompose_sum, adds_as_early_as_it_can) {
  Builder b;
  Made g(b, "f");
  const TensorId x = g.in("x"), w = g.in("w");
  TensorId y = x;
  std::vector<TensorId> parts;
  for (int i = 0; i < 4; ++i) parts.push_back(y = g.op("matmul", {y, w}));
  std::reverse(parts.begin(), parts.end());
  g.out(g.op("add_n", parts));
  const std::vector<HostTensor> inputs = inputs_for(b.module(), g.graph);
  const std::vector<HostTensor> whole = run(b.module(), g.graph, inputs);
  decompose_sum(b.module(), g.graph);
  EXPECT_EQ(to_string(verify(b.module())), "");
  std::string ops;
  for (OpId o : b.module().graph(g.graph).ops) ops += std::string(b.module().row(o).name) + " ";
  EXPECT_EQ(ops, "matmul matmul add matmul add matmul add ");
  EXPECT_EQ(difference(whole[0], run(b.module(), g.graph, inputs)[0]), "");
}

}  // namespace pando::transform::testing
