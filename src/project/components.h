// Strong components of a directed graph.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace pando::project {

// The component of each of `nodes` nodes. Components are numbered so that every edge between two goes to the higher number.
std::vector<std::uint32_t> strong_components(std::size_t nodes, std::span<const std::pair<std::uint32_t, std::uint32_t>> edges);

}  // namespace pando::project
