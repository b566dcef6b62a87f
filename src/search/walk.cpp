#include "search/walk.h"

#include <fmt/format.h>
#include "base/error.h"

#include <algorithm>
#include <utility>

namespace pando::search {

namespace {

constexpr std::string_view kReaches[] = {"calculon", "trainers", "everything"};

const Space& checked(const Space& space) {
  if (space.devices < 1 || space.batch < 1) {
    fail(ErrorKind::poplar_error, "search-space", "{} devices and a batch of {}; both must be 1 or more", space.devices, space.batch);
  }
  return space;
}

}  // namespace

std::string_view name_of(Reach r) { return kReaches[static_cast<std::size_t>(r)]; }

Reach reach_named(std::string_view name) {
  for (std::size_t i = 0; i < std::size(kReaches); ++i) {
    if (kReaches[i] == name) return static_cast<Reach>(i);
  }
  fail(ErrorKind::poplar_error, "search-space", "no space '{}': calculon, trainers, everything", name);
}

void add_values(const Axis& a, const SpaceFacts& c, const Strategy& s, Values& to) {
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
  for (const Axis* a : predicted_axes()) {
    if (a->missing == nullptr) continue;
    if (const std::string_view what = a->missing(s); !what.empty()) all.push_back(what);
  }
  return all;
}

bool chooses_levels(const SpaceFacts& c) {
  return c.space.reach == Reach::calculon && !c.space.runnable && c.sizes->cluster.levels.size() > 1;
}

Demand::Demand(std::string_view text, Spelling spelling) : values(parse_strategy(text, spelling)) {
  for (std::string_view item : split(text, " ,")) words.insert(axes_named(item.substr(0, item.find('=')), spelling)[0]->word);
}

void AxisOfWalk::values(const Strategy& s, Values& to) const {
  add_values(*axis, *context, s, to);
  if (demanded == nullptr) return;
  const std::int64_t wanted = axis->get(*demanded);
  const bool there = axis->on_demand || std::find(to.begin(), to.end(), wanted) != to.end();
  to.assign(there ? 1 : 0, wanted);
}

PointWalk::PointWalk(const SpaceFacts& context)
    : context_(context),
      demand_(checked(context.space).require, Spelling::brief),
      walks_{walk_of(AxisPart::group), walk_of(AxisPart::transfers), walk_of(AxisPart::rest)} {}

Walk<AxisOfWalk> PointWalk::walk_of(AxisPart part) const {
  std::vector<AxisOfWalk> rows;
  for (const Axis* a : predicted_axes()) {
    if (a->part == part) rows.push_back({a, &context_, demand_.of(a->word)});
  }
  return Walk<AxisOfWalk>(std::move(rows));
}

}  // namespace pando::search
