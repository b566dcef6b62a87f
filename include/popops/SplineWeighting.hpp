#ifndef popops_SplineWeighting_hpp
#define popops_SplineWeighting_hpp

#include <poplar/Export.hpp>
#include <poplar/Graph.hpp>
#include <poplar/Program.hpp>
#include <poplar/Tensor.hpp>

namespace popops {

/// out[e, o] = sum over s and i of basis[e, s] * input[e, i] * weight[weightIndex[e, s], i, o], added up in float.
/// \p input: {edges, inputs}. \p weight: {kernels, inputs, outputs}. \p basis: {edges, S}. All FLOAT, or all HALF.
/// \p weightIndex: {edges, S}, INT or UNSIGNED_INT; indices that are no kernel count as weights of 0.
/// Returns {edges, outputs}. Every tile needs the weights of its outputs, since indices are known only when the program runs.
/// Throws poputil::poplibs_error for other shapes and types.
POPLAR_EXPORT poplar::Tensor splineWeighting(poplar::Graph& graph, const poplar::Tensor& input, const poplar::Tensor& weight,
                                             const poplar::Tensor& basis, const poplar::Tensor& weightIndex,
                                             poplar::program::Sequence& prog, const poplar::DebugContext& debugContext = {});

}  // namespace popops

#endif
