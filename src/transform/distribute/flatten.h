// One graph out of a main graph, what it calls and its loops.
#pragma once

#include "transform/distribute/layout/program.h"

namespace pando::transform {

// Writes the ops of called graphs in place of their calls, in any depth; they are of the call's phase and layer. Those of loops are written
// once for each trip, which is a layer. What a trip keeps for others in a stack goes there as a value, and what a gradient would run again
// is taken as it was. Other graphs are left out, but those that branches carry. Means are written so that they can be cut: as a sum and a
// factor, or, where a loss leaves labels out, as a sum over a count that is taken ahead of the first microbatch.
//
// Rejects (value) loops of more than kMostWritten ops in all.
Program flatten(const Program& program);
inline constexpr std::size_t kMostWritten = 100'000;

// Only the calls and loops of the main graph in whose graphs, in any depth, values lie on several devices or replicas meet; all else stays
// as it is. Rejects (not_implemented) such branches.
ir::Module write_out_across(ir::Module module);

}  // namespace pando::transform
