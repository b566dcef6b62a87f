#pragma once

#include "poplibs/poplin/plan/cost.h"

#include <poplar/OptionFlags.hpp>
#include <poplar/Type.hpp>

#include <optional>
#include <vector>

namespace poplin::conv {

// Numbers of parts that a plan must have; 0: free.
struct PlanConstraints {
  unsigned groups = 0, batch = 0, out_channels = 0, in_channels = 0, serial = 0;
  std::vector<unsigned> field;
  friend auto operator<=>(const PlanConstraints&, const PlanConstraints&) = default;
};

// The options of convolutions that have an effect here (see Convolution.hpp for all).
struct Options {
  double memory_proportion = 0.6;
  bool half_partials = false;
  bool in_rows = true;  // pando.inRows: on the CPU device, images are read where they lie (cpu_rows.h)
  bool winograd = true;  // pando.winograd: those with 3 x 3 kernels by fewer products
  std::optional<plan::Objective> objective;
  PlanConstraints constraints;
};

// Throws poplar::invalid_option.
Options parse_options(const poplar::OptionFlags& flags);

// Options of several convolutions at a time; throws poplar::invalid_option.
void check_multi_options(const poplar::OptionFlags& flags);

}  // namespace poplin::conv
