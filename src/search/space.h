// The points of a space, in groups.
#pragma once

#include "search/axis.h"

#include <vector>

namespace pando::search {

// Points that differ in transfers and in what transfers do not depend on, alone.
struct PointGroup {
  Strategy head;
  std::int64_t first_index = 0, points = 0;
};

std::vector<PointGroup> groups_of(const AxisContext& context);
// What is chosen inside a group: all of its choices of a part, the head's other values among them.
std::vector<Strategy> choices(const AxisContext& context, AxisPart part, const Strategy& head);
// The transfers of one, the rest of the other.
Strategy combined(const Strategy& transfers, const Strategy& rest);

}  // namespace pando::search
