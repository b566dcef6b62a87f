#include "search/space.h"

#include "base/error.h"
#include "search/walk.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace pando::search {

namespace {

constexpr std::string_view kReaches[] = {"calculon", "trainers", "everything"};

// An axis of a walk (walk.h).
struct AxisOfWalk {
  using Value = std::int64_t;
  const Axis* axis;
  const AxisContext* context;
  // With the value that a user demands; null: none.
  const Strategy* demanded;

  std::int64_t get(const Strategy& s) const { return axis->get(s); }
  void set(Strategy& s, std::int64_t value) const { axis->set(s, value); }
  void values(const Strategy& s, Values& to) const {
    add_values(*axis, *context, s, to);
    if (demanded == nullptr) return;
    const std::int64_t wanted = axis->get(*demanded);
    const bool there = axis->on_demand || std::find(to.begin(), to.end(), wanted) != to.end();
    to.assign(there ? 1 : 0, wanted);
  }
};

// All choices of a part's axes.
Walk<AxisOfWalk> walk_of(const AxisContext& context, const Demand& demand, AxisPart part) {
  std::vector<AxisOfWalk> rows;
  for (const Axis& a : axes()) {
    if (a.part == part) rows.push_back({&a, &context, demand.of(a.word)});
  }
  return Walk<AxisOfWalk>(std::move(rows));
}

Demand demand_of(const Space& space) {
  return {parse_strategy(space.require), space.require, [](std::string_view word) { return axis_named(word).word; }};
}

}  // namespace

std::string_view name_of(Reach r) { return kReaches[static_cast<std::size_t>(r)]; }

Reach reach_named(std::string_view name) {
  for (std::size_t i = 0; i < std::size(kReaches); ++i) {
    if (kReaches[i] == name) return static_cast<Reach>(i);
  }
  fail(ErrorKind::poplar_error, "search-space", "no space '{}': calculon, trainers, everything", name);
}

void add_values(const Axis& a, const AxisContext& c, const Strategy& s, Values& to) {
  a.domain(c, s, to);
  if (!c.space.runnable || a.missing == nullptr) return;
  std::erase_if(to, [&](std::int64_t value) {
    Strategy with = s;
    a.set(with, value);
    return !a.missing(with).empty();
  });
}

std::vector<std::string_view> missing_of(const Strategy& s) {
  std::vector<std::string_view> all;
  for (const Axis& a : axes()) {
    if (a.missing == nullptr) continue;
    if (const std::string_view what = a.missing(s); !what.empty()) all.push_back(what);
  }
  return all;
}

bool chooses_levels(const AxisContext& c) { return c.space.reach == Reach::calculon && !c.space.runnable && c.cluster.levels.size() > 1; }

std::vector<Strategy> choices(const AxisContext& context, AxisPart part, const Strategy& head) {
  std::vector<Strategy> all;
  Strategy s = head;
  const Demand demand = demand_of(context.space);
  walk_of(context, demand, part).each(s, [&](const Strategy& chosen) { all.push_back(chosen); });
  return all;
}

std::vector<PointGroup> groups_of(const AxisContext& context) {
  const Space& space = context.space;
  if (space.devices < 1 || space.batch < 1) {
    fail(ErrorKind::poplar_error, "search-space", "{} devices and a batch of {}; both must be 1 or more", space.devices, space.batch);
  }
  std::vector<PointGroup> all;
  const Demand demand = demand_of(space);
  auto groups = walk_of(context, demand, AxisPart::group), transfers = walk_of(context, demand, AxisPart::transfers),
       rest = walk_of(context, demand, AxisPart::rest);
  Strategy s;
  std::int64_t index = 0;
  groups.each(s, [&](Strategy& head) {
    std::int64_t of_transfers = 0, of_rest = 0;
    transfers.each(head, [&](const Strategy&) { ++of_transfers; });
    rest.each(head, [&](const Strategy&) { ++of_rest; });
    const std::int64_t points = of_transfers * of_rest;
    if (points > 0) all.push_back({.head = head, .first_index = index, .points = points});
    index += points;
  });
  return all;
}

}  // namespace pando::search
