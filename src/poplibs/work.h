// How built-in operations cut a tile's work into vertices.
#pragma once

#include <pando/cpu_device.hpp>
#include <poplar/Target.hpp>

#include <algorithm>
#include <cstddef>

#include "machine/host.h"

namespace pando::poplibs {

// Parts of `b` that hold `a`, without overflow.
constexpr std::size_t ceil_div(std::size_t a, std::size_t b) { return a / b + (a % b != 0); }

// Vertices to cut the work of one tile into, at most: the workers of a tile of an IPU; more on the CPU device, whose one tile has
// all the work and whose threads may be many. Depends on the target alone, so results do not depend on the number of threads.
inline unsigned vertices_per_tile(const poplar::Target& target) {
  return pando::shares_work_among_threads(target) ? pando::Host().vertices : target.getNumWorkerContexts();
}

// Elements of a vertex that does little with each, at least: `on_tile` on an IPU. On the CPU device a vertex costs what many elements do.
inline unsigned least_elements(const poplar::Target& target, unsigned on_tile) {
  return pando::shares_work_among_threads(target) ? std::max(on_tile, pando::Host().elements) : on_tile;
}

}  // namespace pando::poplibs
