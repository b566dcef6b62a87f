#ifndef popops_GatherStatistics_hpp
#define popops_GatherStatistics_hpp

#include <poplar/Export.hpp>
#include <poplar/Graph.hpp>
#include <poplar/OptionFlags.hpp>
#include <poplar/Program.hpp>

#include <string>

namespace popops {

/// Counts the elements of `input` (FLOAT or HALF, any shape) between `levels` ({n}, the type of the input, ascending): n + 1 counts,
/// the first of elements less than levels[0], count i of those from levels[i - 1] (inclusive) to levels[i] (exclusive), the last of the
/// others. A NaN counts in the last. With `absoluteOfInput`, of absolute values. Returns a FLOAT tensor {n + 1}, or UNSIGNED_INT with
/// the option useFloatArithmetic = false; float counts are exact up to 2^24. Throws poplibs_error for other types or shapes,
/// invalid_option for other options.
POPLAR_EXPORT poplar::Tensor histogram(poplar::Graph& graph, const poplar::Tensor& input, const poplar::Tensor& levels,
                                       bool absoluteOfInput, poplar::program::Sequence& prog, const poplar::DebugContext& debugContext = {},
                                       const poplar::OptionFlags& options = {});

/// The same into `output` ({n + 1}, FLOAT or UNSIGNED_INT), or added to it if `updateOutput`.
POPLAR_EXPORT void histogram(poplar::Graph& graph, const poplar::Tensor& input, poplar::Tensor& output, bool updateOutput,
                             const poplar::Tensor& levels, bool absoluteOfInput, poplar::program::Sequence& prog,
                             const poplar::DebugContext& debugContext = {}, const poplar::OptionFlags& options = {});

}  // namespace popops

#endif
