#include <fmt/format.h>

#include <algorithm>

#include "profile/advice.h"
#include "profile/facts.h"
#include "profile/shares.h"
#include "profile/text.h"

namespace pando::profile {

namespace {

// Of an exchange and its copies.
std::uint64_t bytes_of_a_piece(const ExchangeTraffic& e) {
  std::uint64_t pieces = e.copies;
  for (const Traffic& t : e.traffic) pieces += t.messages;
  return pieces == 0 ? 0 : (e.bytes + e.local_bytes) / pieces;
}

std::uint64_t moving_cycles(const StepCycles& s) { return s.cycles.exchange + s.cycles.local_copy + s.cycles.global_exchange; }

bool moves_one_by_one(const ExchangeTraffic& e) { return e.bytes + e.local_bytes >= 1024 && bytes_of_a_piece(e) <= 8; }

// The row of `exchanges` of a step, plus 1.
std::uint32_t exchange_of(const Report& report, const StepCycles& s) {
  const std::uint32_t part = part_of(report, s);
  return part == 0 ? 0 : report.program[part - 1].exchange;
}

std::vector<StepPart> parts_of_one_by_one(const Report& report) {
  std::vector<bool> is_slow;  // by row of `exchanges`, from 1
  is_slow.push_back(false);
  for (const ExchangeTraffic& e : report.exchanges) is_slow.push_back(moves_one_by_one(e));
  // Without one there is no need to read the program.
  if (std::find(is_slow.begin(), is_slow.end(), true) == is_slow.end()) return {};
  return {[&report, is_slow](const StepCycles& s) {
    const std::uint64_t cycles = moving_cycles(s);
    return cycles > 0 && is_slow[exchange_of(report, s)] ? static_cast<double>(cycles) : 0;
  }};
}

std::optional<Finding> find_one_by_one(const Report& report, const StepSums& sums) {
  Finding f{"exchanges move their data in pieces of a few bytes",
            "Elements that are read together do not lie together. Let each vertex read contiguous elements, or rearrange the tensor once: "
            "a piece of "
            "a few bytes costs as much as one of 16.",
            0,
            {}};
  if (sums.parts.empty()) return std::nullopt;
  f.cost = share_of_all(sums);
  if (f.cost < 0.03) return std::nullopt;
  for (const std::size_t i : sums.parts[0].worst) {
    const StepCycles s = report.steps[i];  // others are looked at meanwhile
    const std::uint32_t row = exchange_of(report, s) - 1;
    f.evidence.push_back(
        {fmt::format("{}: {} bytes a piece", name_of_step(s), bytes_of_a_piece(report.exchanges[row])), {}, s.order, i, {}, {}, row});
  }
  return f;
}

}  // namespace

extern const AdviceRow advice_one_by_one;
constinit const AdviceRow advice_one_by_one = {"one_by_one", "cycles", "exchanges move elements one by one", find_one_by_one,
                                               parts_of_one_by_one};

}  // namespace pando::profile
