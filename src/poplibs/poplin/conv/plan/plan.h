// Plans of convolutions (planning/convolution.h) for public targets.
#pragma once

#include "poplibs/poplin/conv/terms/options.h"
#include "poplibs/poplin/conv/terms/problem.h"

#include <poplar/Target.hpp>
#include <poplin/PlanningCache.hpp>

namespace poplin::conv {

using pando::planning::Partition;
using Kind = pando::planning::ConvolutionKind;
using pando::planning::ConvolutionPlan;
using PlanCost = pando::planning::ConvolutionCost;

// Throws poplar::invalid_option if the constraints ask for more blocks than the target has places.
ConvolutionPlan find_plan(const poplar::Target& target, const Options& options, const Problem& problem, Kind kind);
// The same, from the cache if it is there.
ConvolutionPlan plan_for(const poplar::Target& target, const Options& options, const Problem& problem, Kind kind, PlanningCache* cache);

}  // namespace poplin::conv
