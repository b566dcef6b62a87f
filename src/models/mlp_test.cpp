#include "models/mlp.h"

#include "ir/checks/verify.h"
#include "ir/text/print.h"
#include "models/testing.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace pando::models {
namespace {

using namespace transform;
using testing::difference;
using testing::histogram;

Strategy degrees(std::int32_t d, std::int32_t t, std::int32_t p, std::int32_t k) {
  Strategy s;
  s.data = d;
  s.tensor = t;
  s.pipeline = p;
  s.microbatches = k;
  return s;
}

TEST(Mlp, IsWhatTheReferenceCounts) {
  const Program mlp = build_mlp({.layers = 8, .width = 512, .batch = 256});
  EXPECT_EQ(to_string(ir::verify(mlp.module)), "");
  EXPECT_EQ(histogram(mlp.module), "matmul:8 matmul_grad:8 relu:8 relu_grad:8 sgd:1 squared_loss:1 squared_loss_grad:1");
  const auto counts = [&](std::int32_t d, std::int32_t t, std::int32_t p, std::int32_t k) {
    Strategy s = degrees(d, t, p, k);
    s.schedule = "eager-1F1B";
    s.join_outputs = true;
    return histogram(parallelise(mlp, s).module);
  };
  EXPECT_EQ(counts(1, 1, 2, 4),
            "add:24 concat:6 identity:10 matmul:32 matmul_grad:32 relu:32 relu_grad:32 send:8 sgd:2 squared_loss:4 squared_loss_grad:4");
  EXPECT_EQ(counts(2, 1, 1, 1),
            "all_reduce_across:8 matmul:16 matmul_grad:16 relu:16 relu_grad:16 sgd:2 squared_loss:2 squared_loss_grad:2");
  EXPECT_EQ(counts(1, 2, 2, 4),
            "add:48 all_reduce_across:32 concat:12 identity:20 matmul:64 matmul_grad:64 relu:64 relu_grad:64 send:16 sgd:4 squared_loss:8 "
            "squared_loss_grad:8");
}

TEST(Mlp, AnyDegreesGiveTheSameBits) {
  const Program mlp = build_mlp({.layers = 6, .width = 12, .batch = 24, .learning_rate = 0.5});
  for (std::int32_t d : {1, 2, 3}) {
    for (std::int32_t t : {1, 2, 3}) {
      for (std::int32_t p : {1, 2, 3}) {
        for (std::int32_t k : {1, 2, 4}) {
          SCOPED_TRACE(fmt::format("{} {} {} {}", d, t, p, k));
          EXPECT_EQ(difference(mlp, degrees(d, t, p, k), 0, 7), "");
        }
      }
    }
  }
}

}  // namespace
}  // namespace pando::models
