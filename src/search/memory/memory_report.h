// What a step needs of each device's memory, before it is launched; and what makes it fit.
#pragma once

#include "search/rank_memory.h"
#include "search/strategy.h"

#include <string>
#include <vector>

namespace pando::search {

// A line for each rank, bytes in GiB; the largest first line is the one that has to fit.
std::string memory_table(const std::vector<RankMemory>& ranks);
// The same in bytes, with a line of names.
std::string memory_csv(const std::vector<RankMemory>& ranks);

// A strategy that differs in one or two words from one that does not fit, and fits.
struct FittingChange {
  Strategy strategy;
  Estimate estimate;
  // The words that changed: "recompute=selective", "t=2 d=4".
  std::string words;
};
// Of the changes of one word (or of two degrees whose product stays), the quickest first; of two where no single one does. `limit`: bytes
// of a device.
std::vector<FittingChange> changes_that_fit(const StrategyFacts& facts, const Strategy& s, double limit);

}  // namespace pando::search
