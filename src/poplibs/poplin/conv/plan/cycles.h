// What a vertex of a convolution costs on the machine, from its state.
#pragma once

#include <poplar/Target.hpp>

#include <cstdint>
#include <vector>

namespace poplin::conv {

struct BlockCost {
  std::uint64_t cycles = 0, flops = 0;
};

// Of one group. `shape` as in codelets/conv/conv_block.h.
BlockCost forward_cost(const poplar::Target& target, const poplar::Type& type, const std::vector<int>& shape);
BlockCost gradient_cost(const poplar::Target& target, const poplar::Type& type, const std::vector<int>& shape);

}  // namespace poplin::conv
