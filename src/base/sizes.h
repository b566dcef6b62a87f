// Sizes that users give: products and sums that do not wrap around, and what no host can hold.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace pando {

// Of any tensor, empty dimensions left out. Positions and distances in it fit 63 bits, its bytes an address space.
constexpr std::uint64_t kMostElements = std::uint64_t{1} << 44;
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 47;

// The greatest number stands for what is too great.
constexpr std::uint64_t saturating_mul(std::uint64_t a, std::uint64_t b) {
  std::uint64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? ~std::uint64_t{0} : product;
}
constexpr std::uint64_t saturating_add(std::uint64_t a, std::uint64_t b) {
  std::uint64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? ~std::uint64_t{0} : sum;
}

// The number of elements of a shape; throws tensor_creation_error if the sizes that are not 0 multiply to more than kMostElements.
std::uint64_t checked_elements(std::span<const std::size_t> shape, std::string_view what);
// a * b, or `kind` if that is more than `most`.
std::uint64_t checked_product(std::uint64_t a, std::uint64_t b, std::uint64_t most, ErrorKind kind, std::string_view what);
// Throws `kind` for more bytes than the host has memory: before they are asked for, because the system hands out more than it has.
void check_host_memory(std::uint64_t bytes, ErrorKind kind, std::string_view what);
// Before `more` are added to a list one by one: memory for all of them, asked for once. Throws as check_host_memory does.
template <class T>
void make_room(std::vector<T>& list, std::uint64_t more, ErrorKind kind, std::string_view what) {
  if (more <= list.capacity() - list.size()) return;
  const std::uint64_t size = saturating_add(list.size(), more);
  constexpr std::uint64_t kLittle = std::uint64_t{1} << 20;  // is not worth a question to the system
  if (saturating_mul(size, sizeof(T)) > kLittle) check_host_memory(saturating_mul(size, sizeof(T)), kind, what);
  list.reserve(std::max<std::size_t>(size, 2 * list.capacity()));
}

}  // namespace pando
