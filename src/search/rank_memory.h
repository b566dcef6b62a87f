// What a strategy takes of each device's memory.
#pragma once

#include "search/strategy.h"

#include <array>
#include <cstdint>
#include <vector>

namespace pando::search {

// Bytes of each rank of the pipeline, in the order of ranks. The strategy must be without violations.
struct RankMemory {
  std::int64_t rank = 0, layers = 0;
  // By simulate::MemoryKind.
  std::array<double, simulate::kMemoryKinds> bytes{};
  double sum() const;
};
std::vector<RankMemory> memory_of_ranks(const StrategyFacts& facts, const Strategy& s);

}  // namespace pando::search
