// Weights in other orders.
#include "poplibs/poplin/conv/convolve.h"
#include "poplibs/poputil/reject.h"

#include <pando/ownership.hpp>
#include <poplin/Convolution.hpp>
#include <poputil/exceptions.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace poplin {

using poplar::Tensor;

void weightsTransposeChansFlipXY(poplar::Graph&, const Tensor& in, const Tensor& out, poplar::program::Sequence& prog,
                                 const poplar::DebugContext& context, const poplar::OptionFlags& options) {
  conv::parse_options(options);
  if (in.rank() < 3)
    poputil::reject("weights-shape", "weightsTransposeChansFlipXY: weights of shape {{{}}}, expected {{groups, out, in, kernel...}}",
                    fmt::join(in.shape(), ","));
  Tensor swapped = in.dimShufflePartial({1, 2}, {2, 1});
  for (unsigned d = 3; d < swapped.rank(); ++d) swapped = swapped.reverse(d);
  if (swapped.shape() != out.shape() || in.elementType() != out.elementType())
    poputil::reject("result-shape", "weightsTransposeChansFlipXY: result {} {{{}}}, expected {} {{{}}}", out.elementType().toString(),
                    fmt::join(out.shape(), ","), in.elementType().toString(), fmt::join(swapped.shape(), ","));
  prog.add(poplar::program::Copy(swapped, out, false, context));
}

Tensor fullyConnectedWeightTranspose(poplar::Graph& graph, Tensor weights, const ConvParams& params, poplar::program::Sequence&,
                                     const poplar::DebugContext&, const poplar::OptionFlags& options, PlanningCache*) {
  conv::parse_options(options);
  params.validate();
  pando::require_own(graph, weights, "fullyConnectedWeightTranspose");
  if (weights.rank() != 3)
    poputil::reject("weights-shape", "fullyConnectedWeightTranspose: weights of shape {{{}}}, expected {{groups, in, out}}",
                    fmt::join(weights.shape(), ","));
  return weights.dimShuffle({0, 2, 1});
}

}  // namespace poplin
