// How much of an IPU's memory a module takes at the least: known before anything is lowered.
#pragma once

#include "ir/module.h"

#include <cstdint>
#include <map>
#include <vector>

namespace pando::lower {

// What lies on one device at its worst op, beside the variables.
struct LeastLive {
  std::int64_t bytes = 0;
  // Of the main graph, or of a graph that it calls.
  ir::OpId at;
  // The largest first.
  std::vector<ir::ValueId> values;
};

// By device. Counted are values that no lowering can do without or put into other memory that is counted: results of products,
// convolutions, gathers and the like, and element-wise ones that such ops read, from the op that makes them to the last that reads them and
// is no pass or view. Not counted are what passes may keep to themselves, views, parts of tensors, loops' and branches' results, what
// becomes a variable's contents.
std::map<std::int32_t, LeastLive> least_live(const ir::Module& module);

}  // namespace pando::lower
