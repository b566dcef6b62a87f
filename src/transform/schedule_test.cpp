#include "transform/schedule.h"

#include "ir/verify.h"
#include "transform/numeric_gradient.h"
#include "transform/testing.h"

#include <gtest/gtest.h>

namespace pando::transform::testing {

using namespace ir;

TEST(schedule, keeps_less_alive_and_changes_nothing_else) {
  Builder b;
  Made g(b, "f");
  const TensorId x = g.in("x");
  std::vector<TensorId> wide, sums;
  for (int i = 0; i < 4; ++i) wide.push_back(g.op("concat", {x, x, x, x}, {{"axis", std::int64_t{0}}}));
  for (TensorId t : wide) sums.push_back(g.op("slice", {t}, {{"start", Ints{0}}, {"stop", Ints{1}}, {"step", Ints{1}}, {"axis", Ints{0}}}));
  g.out(g.op("add_n", sums));
  Module& m = b.module();
  const std::vector<HostTensor> inputs = inputs_for(m, g.graph);
  const HostTensor before = run(m, g.graph, inputs)[0];
  const std::int64_t bytes = peak_bytes(m, g.graph);
  EXPECT_EQ(bytes, 72 + 4 * 288 + 24);
  schedule(m);
  EXPECT_EQ(peak_bytes(m, g.graph), 72 + 288 + 4 * 24);
  EXPECT_EQ(to_string(verify(m)), "");
  EXPECT_EQ(run(m, g.graph, inputs)[0], before);
  const std::vector<OpId> once = m.graph(g.graph).ops;
  schedule(m);
  EXPECT_EQ(m.graph(g.graph).ops, once);
}

}  // namespace pando::transform::testing
