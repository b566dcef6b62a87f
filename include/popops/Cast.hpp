#ifndef popops_Cast_hpp
#define popops_Cast_hpp

#include <poplar/Export.hpp>
#include <poplar/Graph.hpp>
#include <poplar/Interval.hpp>
#include <poplar/Program.hpp>

#include <vector>

namespace popops {

// Conversions between FLOAT, HALF, BOOL and all integer types, element by element.
//
// A value that the result's type has is kept. Otherwise: to FLOAT and HALF, the nearest, ties to even (beyond the greatest half:
// infinity); from floating to integer, towards zero, where values out of range become the nearest end of the range and NaN becomes
// 0; between integers, wrapped around; to BOOL, whether it is not 0 (NaN is not). Between equal types the bits are copied. QUARTER
// converts to and from HALF and FLOAT: the greatest quarter stands for greater ones.
//
// All throw poputil::poplibs_error for types without a conversion, for a destination that cannot be written, and for shapes that
// differ.

/// A new tensor of the shape of \p src with its values as \p dstType: one compute set. It lies where \p src does; a source that
/// is on few tiles, or repeats elements, is spread linearly. A QUARTER result needs the form with metadata.
POPLAR_EXPORT poplar::Tensor cast(poplar::Graph& graph, const poplar::Tensor& src, const poplar::Type& dstType,
                                  poplar::program::Sequence& prog, const poplar::DebugContext& debugContext = {});

/// The same for a QUARTER result, whose format and scale are those in \p metadata.
POPLAR_EXPORT poplar::Tensor cast(poplar::Graph& graph, const poplar::Tensor& src, const poplar::Type& dstType,
                                  const poplar::Tensor& metadata, poplar::program::Sequence& prog,
                                  const poplar::DebugContext& debugContext = {});

/// Writes the values of \p src, converted to its type, to \p dst, of the same shape.
POPLAR_EXPORT void castWithOutput(poplar::Graph& graph, const poplar::Tensor& src, const poplar::Tensor& dst,
                                  poplar::program::Sequence& prog, const poplar::DebugContext& debugContext = {});

/// A program that does what castWithOutput does.
POPLAR_EXPORT poplar::program::Program cast(poplar::Graph& graph, poplar::Tensor src, poplar::Tensor dst,
                                            const poplar::DebugContext& debugContext = {});

/// Adds the vertices to \p cs.
POPLAR_EXPORT void cast(poplar::Graph& graph, poplar::Tensor src, poplar::Tensor dst, poplar::ComputeSet cs);

/// Adds the vertices to \p cs and returns the new tensor that they write.
POPLAR_EXPORT poplar::Tensor cast(poplar::Graph& graph, poplar::Tensor src, const poplar::Type& dstType, poplar::ComputeSet cs,
                                  const poplar::DebugContext& debugContext = {});
POPLAR_EXPORT poplar::Tensor cast(poplar::Graph& graph, poplar::Tensor src, const poplar::Type& dstType, const poplar::Tensor& metadata,
                                  poplar::ComputeSet cs, const poplar::DebugContext& debugContext = {});

/// A BOOL scalar: does \p input, one FLOAT element, keep its value when it is converted to \p outputType, HALF, up to the relative
/// error \p tolerance? Infinities and NaN do not; nor does what becomes infinite. Throws poputil::poplibs_error for other types
/// and sizes.
__attribute__((deprecated)) POPLAR_EXPORT poplar::Tensor checkAccuracyWhenCast(poplar::Graph& graph, const poplar::Tensor& input,
                                                                               poplar::Type outputType, double tolerance,
                                                                               poplar::program::Sequence& prog,
                                                                               const poplar::DebugContext& debugContext = {});

}  // namespace popops

#endif
