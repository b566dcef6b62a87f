// The points of a space, in groups.
#pragma once

#include "search/axis.h"
#include "search/searcher.h"

#include <vector>

namespace pando::search {

// Points of a group differ in transfers and in what transfers do not depend on, alone.
std::vector<PointGroup> groups_of(const AxisContext& context);
// What is chosen inside a group: all of its choices of a part, the head's other values among them.
std::vector<Strategy> choices(const AxisContext& context, AxisPart part, const Strategy& head);

}  // namespace pando::search
