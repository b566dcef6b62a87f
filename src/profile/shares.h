// Shares of cycles, for rules of advice.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "profile/ranking.h"
#include "profile/report.h"

namespace pando::profile {

inline double share(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

// Cycles of all steps of all streams, waiting left out.
inline std::uint64_t busy_cycles(const Report& report) {
  std::uint64_t sum = 0;
  for (const StepCycles& s : report.steps) sum += s.cycles.total() - s.cycles.wait;
  return sum;
}

// Of all cycles, what `part` takes of each step.
template <class Part>
double share_of_all(const Report& report, Part part) {
  std::uint64_t sum = 0;
  for (const StepCycles& s : report.steps) sum += part(s);
  return share(sum, busy_cycles(report));
}

// The three steps of which `part` takes most: rows of Report::steps.
template <class Part>
std::vector<std::size_t> worst_steps(const Report& report, Part part) {
  std::vector<std::size_t> order = greatest(report.steps, 3, part);
  while (!order.empty() && part(report.steps[order.back()]) == 0) order.pop_back();
  return order;
}

inline std::string name_of_step(const StepCycles& s) { return s.name.empty() ? "(" + s.kind + ")" : "'" + s.name + "'"; }

}  // namespace pando::profile
