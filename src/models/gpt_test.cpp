#include "models/gpt.h"

#include "ir/checks/verify.h"
#include "models/mlp.h"
#include "models/testing.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace pando::models {
namespace {

using namespace transform;
using testing::difference;
using testing::histogram;

// Sums of parts are rounded in another order: so many units of the largest element of a tensor, in double precision.
constexpr double kRounding = 1e-11;

Gpt small() {
  Gpt g;
  g.layers = 4;
  g.heads = 4;
  g.width = 8;
  g.vocabulary = 12;
  g.sequence = 6;
  g.batch = 12;
  g.dtype = ir::DType::float64;
  g.optimizer.kind = Optimizer::adam;
  return g;
}

TEST(Gpt, IsValid) {
  const Program gpt = build_gpt(small());
  EXPECT_EQ(to_string(ir::verify(gpt.module)), "");
  EXPECT_EQ(gpt.module.graph_count(), 1u);
}

TEST(Gpt, OneAxisAtATime) {
  const Program gpt = build_gpt(small());
  for (std::int32_t n : {2, 3}) {
    EXPECT_EQ(difference(gpt, {.data = n}, kRounding, 1, true), "") << n;
    EXPECT_EQ(difference(gpt, {.expert = n}, kRounding, 1, true), "") << n;
    EXPECT_EQ(difference(gpt, {.context = n}, kRounding, 1, true), "") << n;
    EXPECT_EQ(difference(gpt, {.microbatches = n}, kRounding, 1, true), "") << n;
    EXPECT_EQ(difference(gpt, {.pipeline = n}, kRounding, 1, true), "") << n;
    EXPECT_EQ(difference(gpt, {.pipeline = n, .microbatches = 4}, kRounding, 1, true), "") << n;
  }
  EXPECT_EQ(difference(gpt, {.tensor = 2}, kRounding, 1, true), "");
  EXPECT_EQ(difference(gpt, {.tensor = 4}, kRounding, 1, true), "");
  EXPECT_EQ(difference(gpt, {.tensor = 2, .sequence_parallel = true}, kRounding, 1, true), "");
}

TEST(Gpt, AllAxesTogether) {
  const Program gpt = build_gpt(small());
  EXPECT_EQ(difference(gpt, {.data = 2, .tensor = 2, .pipeline = 2, .microbatches = 3}, kRounding, 2, true), "");
  EXPECT_EQ(difference(gpt, {.data = 2, .tensor = 2, .pipeline = 2, .microbatches = 3, .sequence_parallel = true}, kRounding, 2, true), "");
  EXPECT_EQ(difference(gpt, {.data = 2, .tensor = 2, .pipeline = 2, .microbatches = 3, .context = 3}, kRounding, 2, true), "");
}

TEST(Gpt, Zero) {
  const Program gpt = build_gpt(small());
  for (std::int32_t zero : {1, 2, 3}) {
    for (std::int32_t tensor : {1, 2}) {
      EXPECT_EQ(difference(gpt, {.data = 2, .tensor = tensor, .pipeline = 2, .microbatches = 3, .zero = zero}, kRounding, 3, true), "")
          << zero << " " << tensor;
      EXPECT_EQ(difference(gpt, {.data = 4, .tensor = tensor, .zero = zero}, kRounding, 3, true), "") << zero << " " << tensor;
    }
  }
}

TEST(Gpt, Experts) {
  Gpt g = small();
  g.experts = 6;
  const Program moe = build_gpt(g);
  EXPECT_EQ(to_string(ir::verify(moe.module)), "");
  for (std::int32_t n : {2, 3, 6}) EXPECT_EQ(difference(moe, {.expert = n}, kRounding, 4, true), "") << n;
  EXPECT_EQ(difference(moe, {.data = 2, .tensor = 2, .pipeline = 2, .microbatches = 2, .expert = 3}, kRounding, 4, true), "");
}

TEST(Gpt, EverySchedule) {
  Gpt g = small();
  g.layers = 6;
  const Program gpt = build_gpt(g);
  for (const char* name : {"GPipe", "1F1B", "eager-1F1B", "ZB-H1", "ZB-H2"}) {
    EXPECT_EQ(difference(gpt, {.data = 2, .pipeline = 4, .microbatches = 6, .schedule = name}, kRounding, 5, true), "") << name;
  }
  for (const char* name : {"Interleaved1F1B", "LoopedBFS", "InterleavedZeroBubble", "ZBV", "V-Half", "V-Min", "V-1F1B", "DualPipeV"}) {
    EXPECT_EQ(difference(gpt, {.data = 2, .pipeline = 2, .microbatches = 6, .schedule = name, .stages_per_rank = 2}, kRounding, 5, true),
              "")
        << name;
  }
}

}  // namespace
}  // namespace pando::models
