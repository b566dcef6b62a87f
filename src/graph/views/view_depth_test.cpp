// Views that are made of views, over and over: neither the stack nor the time of a walk grows with how they were made.
#include <gtest/gtest.h>

#include "graph/views/view.h"

namespace pando::graph {
namespace {

View variable(std::uint32_t id, const Shape& shape) { return View::of_variable(VariableId(id), ElementType::float_, shape); }

std::vector<std::uint64_t> elements(const View& v) {
  std::vector<std::uint64_t> out;
  v.for_each_run([&](const Run& r) {
    for (std::uint64_t i = 0; i < r.count; ++i)
      out.push_back(r.variable.value * 100 + r.offset + static_cast<std::uint64_t>(r.stride * static_cast<std::int64_t>(i)));
  });
  return out;
}

TEST(ViewDepth, OfReversedAndTransposedConcatenations) {
  View t = variable(0, {3, 4});
  std::vector<std::uint64_t> want = elements(t);
  for (int i = 0; i < 20'000; ++i) {
    t = t.dim_shuffle({1, 0}).reshape({12}).reverse(0).reshape({3, 4});
    std::vector<std::uint64_t> next;
    for (std::size_t column = 0; column < 4; ++column)
      for (std::size_t row = 0; row < 3; ++row) next.push_back(want[row * 4 + column]);
    want.assign(next.rbegin(), next.rend());
    if (i % 997 == 0) { ASSERT_EQ(elements(t), want) << i; }
  }
  EXPECT_EQ(elements(t), want);
}

TEST(ViewDepth, OfGrowingOnes) {
  View t = variable(0, {1, 2});
  for (std::uint32_t i = 1; i < 1000; ++i) t = View::concat({t.reverse(1), variable(i, {1, 2})}, 0).dim_shuffle({1, 0}).reshape({i + 1, 2});
  EXPECT_EQ(t.num_elements(), 2000u);
  EXPECT_EQ(elements(t).size(), 2000u);
  bool repeated = true;
  t.element_set(&repeated);
  EXPECT_FALSE(repeated);
}

}  // namespace
}  // namespace pando::graph
