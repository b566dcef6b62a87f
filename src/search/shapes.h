// Ops that were measured by shape, machine by machine: a file of shapes/ for each machine that has some, with its source.
#pragma once

#include "search/strategy.h"

namespace pando::search {

// Those of the machine itself (a file's), or else of a machine by its name; null: none were measured.
const MeasuredShapes* measured_shapes_of(const simulate::Cluster& cluster);

}  // namespace pando::search
