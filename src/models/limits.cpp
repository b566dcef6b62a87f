#include "models/limits.h"

#include "base/sizes.h"
#include "ir/error.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

namespace pando::models {

namespace {

std::uint64_t product_of(std::initializer_list<std::int64_t> sizes) {
  std::uint64_t product = 1;
  for (std::int64_t n : sizes) product = saturating_mul(product, static_cast<std::uint64_t>(n));
  return product;
}

}  // namespace

void check_least(std::string_view id, std::string_view what, std::int64_t n, std::int64_t least) {
  if (n < least) ir::reject(ir::ErrorClass::value, id, "{} is {}; it must be at least {}", what, n, least);
}

void check_tensor(std::string_view id, std::string_view what, std::initializer_list<std::int64_t> sizes) {
  if (product_of(sizes) <= kMostElements) return;
  ir::reject(ir::ErrorClass::value, id, "{} make a tensor of {} elements; one has at most 2^44", what, fmt::join(sizes, " x "));
}

void check_rate(std::string_view id, double learning_rate) {
  if (!std::isfinite(learning_rate))
    ir::reject(ir::ErrorClass::value, id, "learning-rate is {}; it must be a finite number", learning_rate);
}

std::uint64_t bytes_of_constant(std::initializer_list<std::int64_t> sizes) {
  // A text that grows is copied.
  constexpr std::uint64_t kElement = 8, kDigits = 12, kCopies = 3;
  return saturating_mul(product_of(sizes), kElement + kCopies * kDigits);
}

}  // namespace pando::models
