#include "kernels/rows/reduce.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace {

// Plain loops on a block's regions.
std::vector<double> reference(PandoReduceOp op, const std::vector<std::vector<double>>& regions, const PandoReduceBlock& block) {
  const std::size_t kept = block.outputs / block.inner, middle = kept == 1 ? 1 : block.middle;
  std::vector<std::vector<double>> of_output(block.outputs);
  for (const std::vector<double>& r : regions)
    for (std::size_t i = 0; i < r.size(); ++i) of_output[i / block.inner / middle % kept * block.inner + i % block.inner].push_back(r[i]);
  std::vector<double> out;
  for (const std::vector<double>& values : of_output) {
    double a = op == PandoReduceOp::mul || op == PandoReduceOp::logical_and ? 1 : 0;
    double high = -std::numeric_limits<double>::infinity(), low = -high;
    for (const double v : values) high = std::max(high, v), low = std::min(low, v);
    for (const double v : values) {
      if (op == PandoReduceOp::add) a += v;
      if (op == PandoReduceOp::square_add) a += v * v;
      if (op == PandoReduceOp::mul) a *= v;
      if (op == PandoReduceOp::log_add) a += std::exp(v - high);
    }
    if (op == PandoReduceOp::min || op == PandoReduceOp::logical_and) a = low;
    if (op == PandoReduceOp::max || op == PandoReduceOp::logical_or) a = high;
    if (op == PandoReduceOp::log_add) a = high + std::log(a);
    out.push_back(a);
  }
  return out;
}

template <class T>
void check(PandoReduceOp op, PandoReduceType type, const PandoReduceBlock& block, const std::vector<std::size_t>& sizes, double low,
           double high) {
  std::mt19937_64 random(5);
  std::vector<std::vector<T>> data;
  std::vector<std::vector<double>> values;
  std::vector<PandoReduceRegion> regions;
  for (const std::size_t size : sizes) {
    data.emplace_back(), values.emplace_back();
    for (std::size_t i = 0; i < size; ++i) {
      data.back().push_back(static_cast<T>(low + (high - low) * static_cast<double>(random() >> 11) * 0x1p-53));
      values.back().push_back(static_cast<double>(data.back().back()));
    }
  }
  for (const auto& d : data) regions.push_back({d.data(), d.size()});
  std::vector<T> out(block.outputs + 1, T(77));
  pando_reduce(op, type, type, regions.data(), &block, 1, out.data(), nullptr, false);
  EXPECT_EQ(static_cast<double>(out.back()), 77) << "written behind the end";
  const std::vector<double> expected = reference(op, values, block);
  // A product is rounded with every factor.
  const double eps = std::is_integral_v<T> ? 0 : sizeof(T) == 2 ? 1e-3 : op == PandoReduceOp::mul ? 5e-6 : 1e-6;
  for (std::size_t i = 0; i < expected.size(); ++i)
    ASSERT_NEAR(static_cast<double>(out[i]), expected[i], eps * (std::abs(expected[i]) + 1))
        << "op " << int(op) << " type " << int(type) << " output " << i << " of " << block.outputs << " middle " << block.middle
        << " inner " << block.inner;
}

struct Case {
  PandoReduceBlock block;
  std::vector<std::size_t> sizes;
};

// One run, runs of all lengths, columns narrow and wide, three and four dimensions, several regions.
std::vector<Case> cases() {
  std::vector<Case> list;
  for (const std::size_t n : {1, 2, 7, 15, 16, 17, 63, 64, 65, 127, 1000, 2048, 2049, 10000}) list.push_back({{1, 1, 1, 1}, {n}});
  list.push_back({{3, 1, 1, 1}, {5, 100, 1}});
  for (const unsigned width : {2u, 3u, 7u, 16u, 63u, 64u, 65u, 128u, 130u, 1023u, 1024u, 1025u, 3000u})
    for (const std::size_t rows : {1, 2, 3, 7, 8, 9, 23, 200}) list.push_back({{2, width, 1, width}, {rows * width, 3 * width}});
  for (const unsigned inner : {1u, 2u, 5u, 40u})
    for (const unsigned middle : {2u, 3u, 50u, 300u})
      for (const unsigned kept : {2u, 3u, 1500u}) {
        if (inner * middle * kept > 100000) continue;
        list.push_back({{1, kept * inner, middle, inner}, {std::size_t{kept} * inner * middle}});
        list.push_back({{2, kept * inner, middle, inner}, {std::size_t{kept} * inner * middle * 3, std::size_t{kept} * inner * middle}});
      }
  return list;
}

TEST(Reduce, AgreesWithPlainLoops) {
  for (const Case& c : cases()) {
    for (const PandoReduceOp op :
         {PandoReduceOp::add, PandoReduceOp::square_add, PandoReduceOp::min, PandoReduceOp::max, PandoReduceOp::log_add}) {
      check<float>(op, PandoReduceType::f32, c.block, c.sizes, 0, 2);
      check<_Float16>(op, PandoReduceType::f16, c.block, c.sizes, 0, 0.5);
    }
    check<float>(PandoReduceOp::mul, PandoReduceType::f32, c.block, c.sizes, 0.9, 1.1);
    for (const PandoReduceOp op : {PandoReduceOp::add, PandoReduceOp::square_add, PandoReduceOp::min, PandoReduceOp::max}) {
      check<std::int32_t>(op, PandoReduceType::i32, c.block, c.sizes, op == PandoReduceOp::square_add ? 0 : -100, 100);
      check<std::uint32_t>(op, PandoReduceType::u32, c.block, c.sizes, 0, 100);
      check<std::int64_t>(op, PandoReduceType::i64, c.block, c.sizes, -100, 100);
      check<std::uint64_t>(op, PandoReduceType::u64, c.block, c.sizes, 0, 100);
    }
    if (HasFailure()) return;
  }
}

TEST(Reduce, IntegersWrap) {
  const std::vector<std::int32_t> x = {std::numeric_limits<std::int32_t>::max(), 1, 1};
  const PandoReduceRegion region = {x.data(), 3};
  const PandoReduceBlock block = {1, 1, 1, 1};
  std::int32_t out = 0;
  pando_reduce(PandoReduceOp::add, PandoReduceType::i32, PandoReduceType::i32, &region, &block, 1, &out, nullptr, false);
  EXPECT_EQ(out, std::numeric_limits<std::int32_t>::min() + 1);
}

TEST(Reduce, LargeSumsKeepTheirAccuracy) {
  // 0.1f is off by 1.5e-9; a running sum in float is off by percents.
  const std::vector<float> x(10'000'000, 0.1f);
  for (const unsigned width : {1u, 10u, 1000u}) {
    const PandoReduceRegion region = {x.data(), x.size()};
    const PandoReduceBlock block = {1, width, 1, width};
    std::vector<float> out(width);
    pando_reduce(PandoReduceOp::add, PandoReduceType::f32, PandoReduceType::f32, &region, &block, 1, out.data(), nullptr, false);
    const double expected = static_cast<double>(0.1f) * 1e7 / width;
    for (const float o : out) EXPECT_NEAR(o, expected, 1e-6 * expected) << width;
  }
}

TEST(Reduce, ScaleAndUpdate) {
  const std::vector<float> x = {1, 2, 3, 4};
  const PandoReduceRegion regions[2] = {{x.data(), 2}, {x.data() + 2, 2}};
  const PandoReduceBlock blocks[2] = {{1, 1, 1, 1}, {1, 1, 1, 1}};
  const float scale = 10;
  std::vector<float> out = {100, 200};
  pando_reduce(PandoReduceOp::add, PandoReduceType::f32, PandoReduceType::f32, regions, blocks, 2, out.data(), &scale, true);
  EXPECT_EQ(out, (std::vector<float>{130, 270}));
  pando_reduce(PandoReduceOp::max, PandoReduceType::f32, PandoReduceType::f32, regions, blocks, 2, out.data(), nullptr, true);
  EXPECT_EQ(out, (std::vector<float>{130, 270}));
  pando_reduce(PandoReduceOp::add, PandoReduceType::f32, PandoReduceType::f32, regions, blocks, 2, out.data(), &scale, false);
  EXPECT_EQ(out, (std::vector<float>{30, 70}));
  out = {0, 0};
  const float log_two = std::log(2.0f);
  pando_reduce(PandoReduceOp::log_add, PandoReduceType::f32, PandoReduceType::f32, regions, blocks, 2, out.data(), &log_two, true);
  EXPECT_NEAR(out[0], std::log(1 + 2 * (std::exp(1.0) + std::exp(2.0))), 1e-6);
}

TEST(Reduce, Infinities) {
  const float inf = std::numeric_limits<float>::infinity();
  const PandoReduceBlock blocks[2] = {{1, 1, 1, 1}, {1, 2, 1, 2}};
  for (const auto& [x, expected] :
       std::vector<std::pair<std::vector<float>, float>>{{{-inf, -inf}, -inf}, {{inf, 1}, inf}, {{-inf, 3}, 3}}) {
    const PandoReduceRegion regions[2] = {{x.data(), 2}, {x.data(), 2}};
    std::vector<float> out(3);
    pando_reduce(PandoReduceOp::log_add, PandoReduceType::f32, PandoReduceType::f32, regions, blocks, 2, out.data(), nullptr, false);
    EXPECT_EQ(out, (std::vector<float>{expected, x[0], x[1]}));
  }
}

TEST(Reduce, ExtremesOfWhatHasANaNAreNaN) {
  for (const PandoReduceOp op : {PandoReduceOp::min, PandoReduceOp::max}) {
    for (const std::size_t n : {1u, 5u, 16u, 67u, 300u}) {
      for (std::size_t at = 0; at < n; ++at) {
        std::vector<float> x(2 * n, 1.0f);
        x[2 * at] = std::numeric_limits<float>::quiet_NaN();
        const PandoReduceRegion region{x.data(), x.size()};
        const PandoReduceBlock row{1, 1, 1, 1}, columns{1, 2, 1, 2};
        const PandoReduceRegion first{x.data(), 2 * at};
        float out[2];
        pando_reduce(op, PandoReduceType::f32, PandoReduceType::f32, &region, &row, 1, out, nullptr, false);
        EXPECT_TRUE(std::isnan(out[0])) << n << ", " << at;
        pando_reduce(op, PandoReduceType::f32, PandoReduceType::f32, &region, &columns, 1, out, nullptr, false);
        EXPECT_TRUE(std::isnan(out[0])) << n << ", " << at;
        EXPECT_EQ(out[1], 1) << n << ", " << at;
        if (at == 0) continue;
        pando_reduce(op, PandoReduceType::f32, PandoReduceType::f32, &first, &row, 1, out, nullptr, false);
        EXPECT_EQ(out[0], 1) << n << ", " << at;
      }
    }
  }
}

TEST(Reduce, NothingGivesTheIdentity) {
  const PandoReduceBlock block = {0, 3, 1, 3};
  std::vector<float> out(3, 9);
  pando_reduce(PandoReduceOp::mul, PandoReduceType::f32, PandoReduceType::f32, nullptr, &block, 1, out.data(), nullptr, false);
  EXPECT_EQ(out, (std::vector<float>{1, 1, 1}));
}

TEST(Reduce, AnyTruthIsTrue) {
  const std::vector<std::uint8_t> x = {2, 1, 4, 0};
  const PandoReduceRegion regions[2] = {{x.data(), 3}, {x.data(), 4}};
  const PandoReduceBlock blocks[2] = {{1, 1, 1, 1}, {1, 1, 1, 1}};
  std::uint8_t out[2] = {9, 9};
  pando_reduce(PandoReduceOp::logical_and, PandoReduceType::boolean, PandoReduceType::boolean, regions, blocks, 2, out, nullptr, false);
  EXPECT_EQ(out[0], 1);
  EXPECT_EQ(out[1], 0);
  pando_reduce(PandoReduceOp::logical_or, PandoReduceType::boolean, PandoReduceType::boolean, regions, blocks, 2, out, nullptr, false);
  EXPECT_EQ(out[1], 1);
}

// Columns [first, first + n) of rows: the same bits as with each row as a region.
template <class T>
void check_columns(PandoReduceOp op, PandoReduceType type, std::size_t rows, std::size_t row, std::size_t first, std::size_t n) {
  std::mt19937_64 random(7);
  std::vector<T> data(rows * row);
  for (T& x : data) x = static_cast<T>(1 + static_cast<double>(random() % 64) / 32);
  std::vector<PandoReduceRegion> regions;
  for (std::size_t r = 0; r < rows; ++r) regions.push_back({data.data() + r * row + first, n});
  const auto width = static_cast<std::uint32_t>(n);
  const PandoReduceBlock block{static_cast<std::uint32_t>(rows), width, 1, width};
  std::vector<T> out(n + 1, T(77)), expected(n + 1, T(77));
  pando_reduce(op, type, type, regions.data(), &block, 1, expected.data(), nullptr, false);
  pando_reduce_columns(op, type, type, data.data() + first, rows, row, n, out.data());
  for (std::size_t i = 0; i <= n; ++i)
    ASSERT_EQ(static_cast<double>(out[i]), static_cast<double>(expected[i])) << "op " << int(op) << " output " << i;
}

TEST(Reduce, Columns) {
  for (const PandoReduceOp op :
       {PandoReduceOp::add, PandoReduceOp::mul, PandoReduceOp::min, PandoReduceOp::max, PandoReduceOp::square_add, PandoReduceOp::log_add})
    for (const std::size_t rows : {1u, 5u, 32u, 67u}) {
      check_columns<float>(op, PandoReduceType::f32, rows, 64, 10, 12);
      check_columns<_Float16>(op, PandoReduceType::f16, rows, 64, 0, 64);
      check_columns<float>(op, PandoReduceType::f32, rows, 3000, 8, 2100);
      if (op != PandoReduceOp::log_add) check_columns<int>(op, PandoReduceType::i32, rows, 20, 3, 17);
    }
}

}  // namespace
