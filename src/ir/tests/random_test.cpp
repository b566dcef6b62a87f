#include "ir/random.h"

#include "ir/error.h"
#include "ir/op_table.h"
#include "ir/semantics/samples.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

namespace pando::ir {
namespace {

// The known answers that come with the generator's definition.
TEST(random, philox_known_answers) {
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}), (std::array<std::uint32_t, 4>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox({~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}), (std::array<std::uint32_t, 4>{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (std::array<std::uint32_t, 4>{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

HostTensor seed(std::int64_t a, std::int64_t b) { return HostTensor::of_ints(DType::uint32, {2}, std::vector<std::int64_t>{a, b}); }

HostTensor run(std::string_view name, const std::vector<HostTensor>& operands, const Attributes& attributes, std::size_t result = 0) {
  return evaluate(row_of(op_kind(name)), operands, attributes)[result];
}

struct Moments {
  double mean = 0, variance = 0;
};

Moments moments(const HostTensor& t) {
  Moments m;
  const auto n = static_cast<double>(t.elements());
  for (std::int64_t i = 0; i < t.elements(); ++i) m.mean += t.number(i) / n;
  for (std::int64_t i = 0; i < t.elements(); ++i) m.variance += (t.number(i) - m.mean) * (t.number(i) - m.mean) / n;
  return m;
}

TEST(random, distributions_have_their_moments) {
  const Ints shape{100, 400};
  const Moments uniform =
      moments(run("random_uniform", {seed(1, 2)}, {{"shape", shape}, {"low", -1.0}, {"high", 3.0}, {"dtype", DType::float32}}));
  EXPECT_NEAR(uniform.mean, 1, 0.02);
  EXPECT_NEAR(uniform.variance, 16.0 / 12, 0.02);
  const Moments normal =
      moments(run("random_normal", {seed(1, 2)}, {{"shape", shape}, {"mean", 0.5}, {"std", 2.0}, {"dtype", DType::float32}}));
  EXPECT_NEAR(normal.mean, 0.5, 0.04);
  EXPECT_NEAR(normal.variance, 4, 0.1);
}

TEST(random, dropout_depends_on_seed_and_position_alone) {
  const HostTensor ones = HostTensor::filled(DType::float32, {40, 50}, 1);
  const HostTensor a = run("dropout", {ones, seed(3, 4)}, {{"p", 0.25}});
  EXPECT_EQ(a, run("dropout", {ones, seed(3, 4)}, {{"p", 0.25}}));
  EXPECT_EQ(a.reshaped({2000}), run("dropout", {ones.reshaped({2000}), seed(3, 4)}, {{"p", 0.25}}));
  EXPECT_FALSE(a == run("dropout", {ones, seed(4, 4)}, {{"p", 0.25}}));
  std::int64_t kept = 0;
  for (std::int64_t i = 0; i < a.elements(); ++i) {
    kept += a.number(i) != 0;
    EXPECT_TRUE(a.number(i) == 0 || a.number(i) == static_cast<float>(1 / 0.75));
  }
  EXPECT_NEAR(static_cast<double>(kept) / 2000, 0.75, 0.04);
  EXPECT_EQ(run("dropout", {ones, seed(3, 4)}, {{"p", 0.0}}), ones);
}

TEST(random, shaped_dropout_keeps_rows_together) {
  const HostTensor out =
      run("shaped_dropout", {HostTensor::filled(DType::float32, {50, 6}, 1), seed(3, 4)}, {{"shape", Ints{50, 1}}, {"ratio", 0.5}});
  std::int64_t kept = 0;
  for (std::int64_t row = 0; row < 50; ++row) {
    kept += out.number(row * 6) != 0;
    for (std::int64_t i = 1; i < 6; ++i) EXPECT_EQ(out.number(row * 6 + i), out.number(row * 6));
  }
  EXPECT_GT(kept, 10);
  EXPECT_LT(kept, 40);
}

TEST(random, seeds_differ) {
  std::set<std::pair<std::int64_t, std::int64_t>> all;
  const auto add = [&](const HostTensor& t) { EXPECT_TRUE(all.emplace(t.integer(0), t.integer(1)).second); };
  for (const HostTensor& t : evaluate(row_of(op_kind("split_random_seed")), {seed(3, 4)}, {{"n", std::int64_t{20}}})) add(t);
  for (std::int64_t m = 0; m < 20; ++m)
    add(run("create_random_seed", {seed(3, 4), HostTensor::filled(DType::uint32, {}, static_cast<double>(m))}, {}));
}

TEST(random, wrong_seeds_and_ratios_are_rejected) {
  const HostTensor x = HostTensor::filled(DType::float32, {4}, 1), wrong = HostTensor::filled(DType::int32, {2}, 1);
  const auto rejected = [](auto f, std::string_view id) {
    try {
      f();
      ADD_FAILURE() << id;
    } catch (const ModelError& e) { EXPECT_EQ(e.id(), id); }
  };
  rejected([&] { run("dropout", {x, wrong}, {{"p", 0.5}}); }, "seed-type");
  rejected([&] { run("split_random_seed", {wrong}, {{"n", std::int64_t{2}}}); }, "seed-type");
  rejected([&] { run("dropout", {x, seed(1, 2)}, {{"p", 1.0}}); }, "dropout-ratio");
  rejected([&] { run("shaped_dropout", {x, seed(1, 2)}, {{"ratio", 0.5}, {"shape", Ints{3}}}); }, "shapes-do-not-broadcast");
  rejected([&] { run("random_uniform", {seed(1, 2)}, {{"shape", Ints{3}}, {"dtype", DType::int32}}); }, "random-type");
}

}  // namespace
}  // namespace pando::ir
