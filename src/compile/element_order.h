// The order in which the elements of a copy are looked at. Any order that both views share gives the same copy; a good one has long
// stretches.
#pragma once

#include "compile/plan.h"

namespace pando::compile {

// Permutes the dimensions of both views alike, and gives both the shape of one of them, where that makes for far fewer stretches. The views
// have the same number of elements.
//
//   a {X, Y, 9} of a variable {9, X, Y}, copied to a view of the same kind: in its own order each stretch is one element
void reorder_for_stretches(const Plan& plan, graph::View& source, graph::View& destination);

}  // namespace pando::compile
