// Which layers of a program may compute their activations again, where not all of them do.
//
// Layers of a stage are taken in the order of what they save: bytes for each second of computing again. If it is few enough, every number
// of layers is tried on every stage. Otherwise a chain: of the rank that needs most memory, one layer more, then of the rank that needs
// most then, until all layers are taken. Whatever the limit of memory is, the chain has what fits into it with about the least computing.
#pragma once

#include "schedule/table.h"
#include "transform/distribute/layout/layout.h"

#include <cstdint>
#include <vector>

namespace pando::search {

// Sets of layers for strategy.recompute, at most `most`, neither none nor all; each ascending. Layers that save nothing are in none of
// them. `layer_seconds`: what a layer's forward pass takes. Rejects (value) what the stages reject.
std::vector<std::vector<std::uint32_t>> recompute_choices(const transform::Program& program, const transform::Strategy& strategy,
                                                          const transform::Layout& layout, const schedule::Table& table,
                                                          const std::vector<double>& layer_seconds, std::int32_t most);

}  // namespace pando::search
