// Goes through a space: the choices of its axes, one inside the other.
#pragma once

#include "search/axis.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

namespace pando::search {

// What a user demands of a space: of which axes, and which values.
struct Demand {
  // Rejects (poplar_error) words and values that are none.
  Demand(std::string_view text, Spelling spelling);
  const transform::Strategy* of(std::string_view word) const { return words.contains(word) ? &values : nullptr; }
  transform::Strategy values;
  std::set<std::string_view> words;
};

// Row: an axis. Value: what is chosen of it; values(strategy, to) adds those after the axes before it; get(strategy), set(strategy, Value).
template <class Row>
class Walk {
 public:
  explicit Walk(std::vector<Row> rows) : values_(rows.size()), rows_(std::move(rows)) {}

  template <class F>
  void each(transform::Strategy& s, F&& f) {
    descend(0, s, f);
  }

  // How many there are.
  std::int64_t count(transform::Strategy& s) { return rows_.empty() ? 1 : count_from(0, s); }

 private:
  std::int64_t count_from(std::size_t depth, transform::Strategy& s) {
    const Row& row = rows_[depth];
    auto& values = values_[depth];
    values.clear();
    row.values(s, values);
    if (depth + 1 == rows_.size()) return static_cast<std::int64_t>(values.size());
    const auto before = row.get(s);
    std::int64_t n = 0;
    for (const auto& value : values) {
      row.set(s, value);
      n += count_from(depth + 1, s);
    }
    row.set(s, before);
    return n;
  }

  template <class F>
  void descend(std::size_t depth, transform::Strategy& s, F& f) {
    if (depth == rows_.size()) return f(s);
    const Row& row = rows_[depth];
    auto& values = values_[depth];
    values.clear();
    row.values(s, values);
    const auto before = row.get(s);
    for (const auto& value : values) {
      row.set(s, value);
      descend(depth + 1, s, f);
    }
    row.set(s, before);
  }

  std::vector<std::vector<typename Row::Value>> values_;
  std::vector<Row> rows_;
};

// An axis of predictions in a walk.
struct AxisOfWalk {
  using Value = std::int64_t;
  const Axis* axis;
  const SpaceFacts* context;
  // With the value that a user demands; null: none.
  const Strategy* demanded;

  std::int64_t get(const Strategy& s) const { return axis->get(s); }
  void set(Strategy& s, std::int64_t value) const { axis->set(s, value); }
  void values(const Strategy& s, std::vector<std::int64_t>& to) const;
};

// Goes through a space. Points of a group differ in transfers and in what transfers do not depend on, alone.
class PointWalk {
 public:
  // Rejects (poplar_error) a space that cannot be. The context must outlive it.
  explicit PointWalk(const SpaceFacts& context);

  // Those of one axis that the space has, where the others are as `s` has them.
  void values(const Axis& axis, const Strategy& s, Values& to) const { AxisOfWalk{&axis, &context_, demand_.of(axis.word)}.values(s, to); }

  // f(Strategy&), with all choices of a part's axes, the head's other values among them. `head` is changed meanwhile, and is as before at
  // the end.
  template <class F>
  void each(AxisPart part, Strategy& head, F&& f) {
    of(part).each(head, f);
  }
  // f(Strategy& head, points), of every group that has points.
  template <class F>
  void each_group(F&& f) {
    Strategy s;
    each(AxisPart::group, s, [&](Strategy& head) {
      const std::int64_t points = of(AxisPart::transfers).count(head) * of(AxisPart::rest).count(head);
      if (points > 0) f(head, points);
    });
  }

 private:
  Walk<AxisOfWalk>& of(AxisPart part) { return walks_[static_cast<std::size_t>(part)]; }
  Walk<AxisOfWalk> walk_of(AxisPart part) const;

  const SpaceFacts& context_;
  const Demand demand_;
  std::array<Walk<AxisOfWalk>, 3> walks_;
};

}  // namespace pando::search
