#ifndef popops_SplineBasis_hpp
#define popops_SplineBasis_hpp

#include <poplar/Export.hpp>
#include <poplar/Graph.hpp>
#include <poplar/Program.hpp>
#include <poplar/Tensor.hpp>

namespace popops {

/// The B-spline basis of graph convolutions: for each edge e and each of the (degree + 1)^D control points s near it, the product of
/// D one-dimensional uniform B-splines, and the number of the control point's weight.
///
/// Dimension d of point s is k_d = s / (degree + 1)^d mod (degree + 1). With v = pseudo[e, d] * (kernelSize[d] - degree) for an open
/// spline, and pseudo[e, d] * kernelSize[d] for a closed one: basis[e, s] is the product of B(v - floor(v), k_d), and
/// weightIndex[e, s] the sum of (floor(v) + k_d) mod kernelSize[d], each times the kernel sizes of the dimensions before.
///
/// \p pseudo: {edges, D}, FLOAT or HALF, in [0, 1]. \p kernelSize, \p isOpenSpline: {D}, integers or BOOL. \p basis: {edges,
/// (degree + 1)^D}, of the type of \p pseudo. \p weightIndex: the same shape, INT or UNSIGNED_INT. \p degree: 1, 2 or 3.
/// Throws poputil::poplibs_error for other shapes, types and degrees, or if results cannot be written.
POPLAR_EXPORT void splineBasis(poplar::Graph& graph, const poplar::Tensor& pseudo, const poplar::Tensor& kernelSize,
                               const poplar::Tensor& isOpenSpline, const poplar::Tensor& basis, const poplar::Tensor& weightIndex,
                               unsigned degree, poplar::program::Sequence& prog, const poplar::DebugContext& debugContext = {});

}  // namespace popops

#endif
