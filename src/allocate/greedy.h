// First fit: take the buffers in some order and put each into the lowest gap between the buffers placed before it.
#pragma once

#include <cstdint>
#include <vector>

#include "allocate/problem.h"

namespace pando::allocate {

// In every order fixed buffers come first, then those with bounds, then the rest.
enum class GreedyOrder : std::uint8_t { size, area, lifetime, begin };
inline constexpr GreedyOrder kGreedyOrders[] = {GreedyOrder::size, GreedyOrder::area, GreedyOrder::lifetime, GreedyOrder::begin};

struct GreedyPlacement {
  std::vector<std::uint64_t> offsets;
  std::uint64_t high_water = 0;
  bool within_bounds = true;  // every highest_end kept, no fixed buffers collide
};

GreedyPlacement first_fit(const std::vector<Buffer>& buffers, GreedyOrder order);

}  // namespace pando::allocate
