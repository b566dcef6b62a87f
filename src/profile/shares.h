// Shares of cycles, for rules of advice.
#pragma once

#include <cstdint>
#include <string>

#include "profile/advice.h"
#include "profile/report.h"

namespace pando::profile {

inline double share(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

// Of all cycles.
inline double share_of_all(const StepSums& sums, double part) { return sums.busy == 0 ? 0 : part / sums.busy; }
inline double share_of_all(const StepSums& sums) { return share_of_all(sums, sums.parts[0].sum); }

inline std::string name_of_step(const StepCycles& s) { return s.name.empty() ? "(" + s.kind + ")" : "'" + s.name + "'"; }

}  // namespace pando::profile
