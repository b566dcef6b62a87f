// The points of a space, in groups.
#pragma once

#include "search/axis.h"
#include "search/walk.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace pando::search {

// An axis of a walk (walk.h).
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
  // Refuses (poplar_error) a space that cannot be. The context must outlive it.
  explicit PointWalk(const SpaceFacts& context);

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
