// Values that one program of the main graph makes and another one reads: they stay on the device between runs.
#pragma once

#include "ir/module.h"

#include <vector>

namespace pando::ir {

struct KeptValue {
  ValueId value;
  // Its newest version, whichever program makes that. What one program leaves is what the next one finds.
  ValueId last;
};

// Whether an op runs with the main graph's ops of a context: constants do in all, ops of other graphs where they are called.
bool runs_in(const Module& module, OpId op, Context context);
// In a program of one context of the main graph, an op of another has not run: what it modified, itself or through a view, is what it was.
ValueId version_in(const Module& module, ValueId v, Context context);
// In the order of their first readers. Before anybody has made them, they are zero.
std::vector<KeptValue> kept_values(const Module& module);

}  // namespace pando::ir
