// Casts on tiles against those of the host, code by code: kernels and codelets convert by code of their own.
#include "session/program_testing.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

namespace pando::session {
namespace {

using namespace testing;

HostTensor of_bits(DType dtype, const std::vector<std::uint16_t>& bits) {
  HostTensor t(dtype, {static_cast<std::int64_t>(bits.size())});
  for (std::size_t i = 0; i < bits.size(); ++i) std::memcpy(t.writable() + i * size_of(dtype), &bits[i], size_of(dtype));
  return t;
}

TEST(Casts, of_all_halfs_are_those_of_the_host) {
  on_machines([](Program& p) {
    const GraphId g = p.main();
    std::vector<std::uint16_t> all, numbers;
    for (std::uint32_t code = 0; code < 0x10000; ++code) {
      all.push_back(static_cast<std::uint16_t>(code));
      if ((code & 0x7fff) <= 0x7c00) numbers.push_back(static_cast<std::uint16_t>(code));
    }
    const TensorId halfs = p.variable(of_bits(DType::float16, all)), scale = p.variable(HostTensor::filled(DType::int32, {}, 1));
    for (DType to : {DType::int8, DType::uint8, DType::int16, DType::uint16, DType::int32, DType::boolean})
      p.store(p.op(g, "cast", {halfs}, {{"data_type", to}}));
    for (DType to : {DType::float8_143, DType::float8_152}) p.store(p.op(g, "pow2scale_cast_to_fp8", {halfs, scale}, {{"data_type", to}}));
    // What a NaN carries beside being one is left open.
    p.store(p.op(g, "cast", {p.variable(of_bits(DType::float16, numbers))}, {{"data_type", DType::float32}}));
  });
}

TEST(Casts, to_half_round_like_the_host) {
  on_machines([](Program& p) {
    // Each half, the middle between it and the next, and the floats on both sides of that.
    std::vector<double> values;
    for (std::uint16_t code = 0; code <= 0x7bff; ++code) {
      const double half = of_bits(DType::float16, {code}).number(0);
      const double next = code == 0x7bff ? 65536 : of_bits(DType::float16, {static_cast<std::uint16_t>(code + 1)}).number(0);
      const auto middle = static_cast<float>((half + next) / 2);
      for (const double v : {half, double{middle}, double{std::nextafter(middle, 0.0f)}, double{std::nextafter(middle, 1e9f)}})
        values.push_back(code % 2 == 0 ? v : -v);
    }
    const auto n = static_cast<std::int64_t>(values.size());
    p.store(p.op(p.main(), "cast", {p.variable(HostTensor::of_floats(DType::float32, {n}, values))}, {{"data_type", DType::float16}}));
  });
}

TEST(Casts, of_all_float8_codes_and_of_integers_are_those_of_the_host) {
  on_machines([](Program& p) {
    const GraphId g = p.main();
    std::vector<std::uint16_t> codes;
    for (std::uint16_t code = 0; code < 256; ++code)
      if (code != 0x80) codes.push_back(code);
    const TensorId scale = p.variable(HostTensor::filled(DType::int32, {}, -2));
    for (DType from : {DType::float8_143, DType::float8_152}) {
      const TensorId t = p.variable(of_bits(from, codes));
      for (DType to : {DType::float16, DType::float32}) p.store(p.op(g, "pow2scale_cast_from_fp8", {t, scale}, {{"data_type", to}}));
    }
    // Around the ends of all types, and where an integer has no float of its own.
    std::vector<std::int64_t> whole;
    for (int bit = 0; bit < 31; ++bit)
      for (const std::int64_t beside : {-1, 0, 1})
        for (const std::int64_t sign : {-1, 1}) whole.push_back(sign * ((std::int64_t{1} << bit) + beside));
    const auto n = static_cast<std::int64_t>(whole.size());
    const std::vector<double> numbers(whole.begin(), whole.end());
    const TensorId integers = p.variable(HostTensor::of_ints(DType::int32, {n}, whole));
    const TensorId floats = p.variable(HostTensor::of_floats(DType::float32, {n}, numbers));
    for (DType to : {DType::int8, DType::uint8, DType::int16, DType::uint16, DType::uint32, DType::float16, DType::float32, DType::boolean})
      p.store(p.op(g, "cast", {integers}, {{"data_type", to}}));
    for (DType to : {DType::int8, DType::uint8, DType::int16, DType::uint16, DType::int32, DType::uint32})
      p.store(p.op(g, "cast", {floats}, {{"data_type", to}}));
  });
}

// Libraries order floats, halfs and integers of 32 bits.
TEST(Casts, small_integers_are_put_in_order_as_int) {
  on_machines([](Program& p) {
    const GraphId g = p.main();
    for (DType t : {DType::int8, DType::uint8, DType::int16, DType::uint16, DType::int32}) {
      const bool is_signed = t != DType::uint8 && t != DType::uint16;
      const std::int64_t low = is_signed ? -100 : 155;
      const TensorId x = p.variable(HostTensor::of_ints(t, {2, 3}, std::array<std::int64_t, 6>{5, low, 7, 100, 9, 9}));
      for (const bool largest : {true, false}) {
        const Attributes two{{"axis", std::int64_t{1}}, {"k", std::int64_t{2}}, {"largest", largest}, {"sorted", true}};
        for (TensorId r : p.b.op(g, "topk", std::vector{x}, two)) p.store(r);
      }
      for (const char* op : {"argmax", "argmin"}) p.store(p.op(g, op, {x}, {{"dim", std::int64_t{1}}, {"keepdim", false}}));
      for (TensorId r : p.b.op(g, "median", std::vector{x}, {{"axis", Ints{1}}, {"keepdims", false}})) p.store(r);
    }
  });
}

}  // namespace
}  // namespace pando::session
