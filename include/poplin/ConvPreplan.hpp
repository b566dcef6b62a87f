#ifndef poplin_ConvPreplan_hpp
#define poplin_ConvPreplan_hpp

#include <poplar/Export.hpp>
#include <poplar/Graph.hpp>
#include <poplar/OptionFlags.hpp>
#include <poplin/Convolution.hpp>
#include <poplin/MatMul.hpp>

#include <set>
#include <tuple>

namespace poplin {

/// Plans all of \p convs and \p matmuls and keeps the plans in \p cache.
/// Throws poplar::invalid_option for an unknown option and poputil::poplibs_error for invalid parameters.
POPLAR_EXPORT void preplan(const std::set<ConvPlanParams>& convs, const std::set<MatMulPlanParams>& matmuls, PlanningCache& cache);

}  // namespace poplin

#endif
