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

bool moves_one_by_one(const ExchangeTraffic& e) { return e.bytes + e.local_bytes >= 1024 && bytes_of_a_piece(e) <= 8; }

// The row of `exchanges` of a step, plus 1.
std::uint32_t exchange_of(const Report& report, const StepCycles& s) {
  const std::uint32_t part = part_of(report, s);
  return part == 0 ? 0 : report.program[part - 1].exchange;
}

std::optional<Finding> find_one_by_one(const Report& report) {
  Finding f{"exchanges move their data in pieces of a few bytes",
            "Elements that are read together do not lie together. Let each vertex read contiguous elements, or rearrange the tensor once: "
            "a piece of "
            "a few bytes costs as much as one of 16.",
            0,
            {}};
  std::vector<std::pair<std::uint64_t, std::size_t>> small;
  std::uint64_t cycles = 0;
  std::size_t next = 0;
  for (const StepCycles& s : report.steps) {
    const std::size_t i = next++;
    const std::uint32_t row = exchange_of(report, s);
    if (row == 0 || !moves_one_by_one(report.exchanges[row - 1])) continue;
    const std::uint64_t cost = s.cycles.exchange + s.cycles.local_copy + s.cycles.global_exchange;
    small.emplace_back(cost, i);
    cycles += cost;
  }
  f.cost = share(cycles, busy_cycles(report));
  if (f.cost < 0.03) return std::nullopt;
  std::stable_sort(small.begin(), small.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  for (std::size_t k = 0; k < std::min<std::size_t>(small.size(), 3); ++k) {
    const StepCycles& s = report.steps[small[k].second];
    const std::uint32_t row = exchange_of(report, s) - 1;
    f.evidence.push_back({fmt::format("{}: {} bytes a piece", name_of_step(s), bytes_of_a_piece(report.exchanges[row])),
                          {},
                          s.order,
                          small[k].second,
                          {},
                          {},
                          row});
  }
  return f;
}

}  // namespace

extern const AdviceRow advice_one_by_one;
constinit const AdviceRow advice_one_by_one = {"one_by_one", "cycles", "exchanges move elements one by one", find_one_by_one};

}  // namespace pando::profile
