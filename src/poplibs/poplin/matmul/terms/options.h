// The options of a matrix product.
#pragma once

#include <poplar/OptionFlags.hpp>
#include <poplar/Type.hpp>

#include <optional>

#include "poplibs/poplin/plan/cost.h"

namespace poplin::internal::matmul {

struct Options {
  double memory_proportion = 0.6;  // of a tile's memory, for the blocks of one step
  poplar::Type partials = poplar::FLOAT;
  plan::Objective objective = plan::Objective::cycles;
  bool blocked = false;                // pando.layout: in blocks of one size (blocked.h) where that is possible
  std::optional<unsigned> first_tile;  // pando.firstTile: in blocks, the tile of the result's first one
  bool is_update = false;              // fullyConnectedPass is TRAINING_WU
  bool rows_apart = true;              // pando.rowsApart: on the CPU device, rows that lie apart are read where they are, not copied
  bool turns_operands = true;  // pando.turnsOperands: on the CPU device, rows of a large A that lies turned are brought together once
};

// Throws poplar::invalid_option for unknown keys and malformed values. Options that choose among implementations which do not
// differ here (use128BitConvUnitLoad, enableFastReduce ...) are checked and have no effect.
Options parse_options(const poplar::OptionFlags& flags);

}  // namespace poplin::internal::matmul
