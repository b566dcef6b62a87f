#include "search/space.h"

#include "base/error.h"
#include "search/shapes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

namespace pando::search {

namespace {

constexpr std::string_view kReaches[] = {"calculon", "trainers", "everything"};

// Which axes a user demands a value of.
struct Demand {
  explicit Demand(const Space& space) : values(parse_strategy(space.require, space.batch)) {
    std::string word;
    for (char c : space.require + " ") {
      if (c != ' ' && c != ',') {
        word += c;
        continue;
      }
      if (!word.empty()) words.insert(axis_named(word.substr(0, word.find('='))).word);
      word.clear();
    }
  }
  bool has(const Axis& a) const { return words.contains(a.word); }
  Strategy values;
  std::set<std::string_view> words;
};

// Goes through all choices of some axes.
class Walk {
 public:
  Walk(const AxisContext& context, std::initializer_list<AxisPart> parts) : context_(context), demand_(context.space) {
    for (const Axis& a : axes()) {
      if (std::find(parts.begin(), parts.end(), a.part) != parts.end()) rows_.push_back({&a, {}, demand_.has(a)});
    }
  }

  template <class F>
  void each(Strategy& s, F&& f) {
    descend(0, s, f);
  }

 private:
  struct Row {
    const Axis* axis;
    Values values;
    bool demanded;
  };

  template <class F>
  void descend(std::size_t depth, Strategy& s, F& f) {
    if (depth == rows_.size()) return f(s);
    Row& row = rows_[depth];
    const Axis& a = *row.axis;
    row.values.clear();
    add_values(a, context_, s, row.values);
    const std::int64_t before = a.get(s);
    if (row.demanded) {
      const std::int64_t wanted = a.get(demand_.values);
      const bool there = a.on_demand || std::find(row.values.begin(), row.values.end(), wanted) != row.values.end();
      row.values.assign(there ? 1 : 0, wanted);
    }
    for (std::size_t i = 0; i < row.values.size(); ++i) {
      a.set(s, row.values[i]);
      descend(depth + 1, s, f);
    }
    a.set(s, before);
  }

  const AxisContext& context_;
  Demand demand_;
  std::vector<Row> rows_;
};

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
  Walk(context, {part}).each(s, [&](const Strategy& chosen) { all.push_back(chosen); });
  return all;
}

Strategy combined(const Strategy& transfers, const Strategy& rest) {
  static const std::vector<const Axis*> rows = [] {
    std::vector<const Axis*> of_rest;
    for (const Axis& a : axes()) {
      if (a.part == AxisPart::rest) of_rest.push_back(&a);
    }
    return of_rest;
  }();
  Strategy s = transfers;
  for (const Axis* a : rows) a->set(s, a->get(rest));
  return s;
}

std::vector<PointGroup> groups_of(const AxisContext& context) {
  const Space& space = context.space;
  if (space.devices < 1 || space.batch < 1) {
    fail(ErrorKind::poplar_error, "search-space", "{} devices and a batch of {}; both must be 1 or more", space.devices, space.batch);
  }
  std::vector<PointGroup> all;
  Walk groups(context, {AxisPart::group}), transfers(context, {AxisPart::transfers}), rest(context, {AxisPart::rest});
  Strategy s;
  s.batch = space.batch;
  std::int64_t index = 0;
  groups.each(s, [&](Strategy& head) {
    std::int64_t of_transfers = 0, of_rest = 0;
    transfers.each(head, [&](const Strategy&) { ++of_transfers; });
    rest.each(head, [&](const Strategy&) { ++of_rest; });
    const std::int64_t points = of_transfers * of_rest;
    if (points > 0) all.push_back({head, index, points});
    index += points;
  });
  return all;
}

std::int64_t count_points(const Transformer& m, const simulate::Cluster& c, const Space& space) {
  std::int64_t points = 0;
  LayerMemo memo;
  for (const PointGroup& g : groups_of({{m, c, &memo, measured_shapes_of(c)}, space})) points += g.points;
  return points;
}

}  // namespace pando::search
