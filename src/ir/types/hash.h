// Mixing hashes of parts into the hash of a whole, for the tables of types and attributes.
#pragma once

#include <cstddef>

namespace pando::ir {

constexpr std::size_t mixed(std::size_t seed, std::size_t v) { return seed ^ (v + 0x9e3779b97f4a7c15ull + (seed << 6) + (seed >> 2)); }

}  // namespace pando::ir
