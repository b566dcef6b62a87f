#ifndef popops_ScaledAdd_hpp
#define popops_ScaledAdd_hpp

#include <poplar/Export.hpp>
#include <poplar/Graph.hpp>
#include <poplar/OptionFlags.hpp>
#include <poplar/Program.hpp>

#include <string>

namespace popops {

// A = scaleA * A + scaleB * B, in place, in one compute set.
//
// A: FLOAT, HALF, INT or UNSIGNED_INT, of any shape. B: the shape of A; FLOAT and HALF may be mixed, other types than A's are
// converted to A's first. Floating types compute in float and round once, to A's type; integers wrap around.
// Scales are numbers, or tensors of one element. Scale tensors of other types than FLOAT and HALF (or A's, for integers) are
// converted to A's type first, and a number is converted to A's type if that is an integer type.
//
// Options:
//   optimizeForSpeed (true, false) [false]            accepted; the result is the same
//   scaleFloatToHalfTolerance (double) [1e-6]         accepted; FLOAT scales are used as they are, also with HALF tensors
//
// All throw poputil::poplibs_error if shapes differ, a scale has not one element, A's type is another or A cannot be written;
// poplar::invalid_option for other options.

/// What scaledAddTo with two scales computes. X_MINUS_AX_PLUS_BY: A = A - scaleA * A + scaleB * B.
enum class ScaledAddSpecialisation { DEFAULT, X_MINUS_AX_PLUS_BY };

/// A += scaleB * B.
POPLAR_EXPORT void scaledAddTo(poplar::Graph& graph, poplar::Tensor A, poplar::Tensor B, float scaleB, poplar::program::Sequence& prog,
                               const poplar::DebugContext& debugContext = {}, const poplar::OptionFlags& options = {});
POPLAR_EXPORT void scaledAddTo(poplar::Graph& graph, poplar::Tensor A, poplar::Tensor B, poplar::Tensor scaleB,
                               poplar::program::Sequence& prog, const poplar::DebugContext& debugContext = {},
                               const poplar::OptionFlags& options = {});

/// A -= scaleB * B.
POPLAR_EXPORT void scaledSubtractFrom(poplar::Graph& graph, poplar::Tensor A, poplar::Tensor B, float scaleB,
                                      poplar::program::Sequence& prog, const poplar::DebugContext& debugContext = {},
                                      const poplar::OptionFlags& options = {});
POPLAR_EXPORT void scaledSubtractFrom(poplar::Graph& graph, poplar::Tensor A, poplar::Tensor B, poplar::Tensor scaleB,
                                      poplar::program::Sequence& prog, const poplar::DebugContext& debugContext = {},
                                      const poplar::OptionFlags& options = {});

/// A = scaleA * A + scaleB * B, or what `speciality` says.
POPLAR_EXPORT void scaledAddTo(poplar::Graph& graph, poplar::Tensor A, poplar::Tensor scaleA, poplar::Tensor B, poplar::Tensor scaleB,
                               poplar::program::Sequence& prog, const poplar::DebugContext& debugContext = {},
                               const poplar::OptionFlags& options = {});
POPLAR_EXPORT void scaledAddTo(poplar::Graph& graph, poplar::Tensor A, poplar::Tensor scaleA, poplar::Tensor B, poplar::Tensor scaleB,
                               poplar::program::Sequence& prog, const ScaledAddSpecialisation speciality,
                               const poplar::DebugContext& debugContext = {}, const poplar::OptionFlags& options = {});
POPLAR_EXPORT void scaledAddTo(poplar::Graph& graph, poplar::Tensor A, float scaleA, poplar::Tensor B, float scaleB,
                               poplar::program::Sequence& prog, const poplar::DebugContext& debugContext = {},
                               const poplar::OptionFlags& options = {});
POPLAR_EXPORT void scaledAddTo(poplar::Graph& graph, poplar::Tensor A, float scaleA, poplar::Tensor B, float scaleB,
                               poplar::program::Sequence& prog, const ScaledAddSpecialisation speciality,
                               const poplar::DebugContext& debugContext = {}, const poplar::OptionFlags& options = {});

/// A = scaleA * A - scaleB * B.
POPLAR_EXPORT void scaledSubtractFrom(poplar::Graph& graph, poplar::Tensor A, poplar::Tensor scaleA, poplar::Tensor B,
                                      poplar::Tensor scaleB, poplar::program::Sequence& prog, const poplar::DebugContext& debugContext = {},
                                      const poplar::OptionFlags& options = {});
POPLAR_EXPORT void scaledSubtractFrom(poplar::Graph& graph, poplar::Tensor A, float scaleA, poplar::Tensor B, float scaleB,
                                      poplar::program::Sequence& prog, const poplar::DebugContext& debugContext = {},
                                      const poplar::OptionFlags& options = {});

}  // namespace popops

#endif
