#pragma once

#include "planning/convolution.h"

#include <poplar/OptionFlags.hpp>

namespace poplin::conv {

using PlanConstraints = pando::planning::PartitionConstraints;

// The options of convolutions that have an effect here (see Convolution.hpp for all).
struct Options : pando::planning::ConvolutionOptions {
  bool in_rows = true;   // pando.inRows: on the CPU device, images are read where they lie (cpu_rows.h)
  bool winograd = true;  // pando.winograd: those with 3 x 3 kernels by fewer products
};

// Throws poplar::invalid_option.
Options parse_options(const poplar::OptionFlags& flags);

// Options of several convolutions at a time; throws poplar::invalid_option.
void check_multi_options(const poplar::OptionFlags& flags);

}  // namespace poplin::conv
