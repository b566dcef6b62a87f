#ifndef poprand_RandomGen_hpp
#define poprand_RandomGen_hpp

#include <poplar/Export.hpp>
#include <poplar/Graph.hpp>
#include <poplar/Program.hpp>
#include <poputil/exceptions.hpp>

#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>

/// Random numbers by counting. Every number is a function of the seed, the modifier and the element's place in the reference tensor
/// (row-major): the same for any mapping over tiles, any device and any number of threads.
///
/// \p seed points to a tensor UNSIGNED_INT {2}, or is null: then the graph's generator is used, which poprand::setSeed starts and
/// every call without a seed moves on, so that calls differ and a run can be repeated. \p seedModifier selects an independent
/// stream of the seed. \p reference gives shape and mapping of the result. \p outType is FLOAT or HALF, where nothing else is said.
/// All functions throw poputil::poplibs_error for a seed of another shape or type, an unsupported type, or a parameter out of range.
namespace poprand {

/// Keeps each element of \p input with probability \p keepProbability in (0, 1], multiplied by \p scale, and sets the others to 0.
/// \p input (FLOAT or HALF) has the shape of \p reference; the mask depends on the reference's order of elements alone, so the same
/// seed gives the same mask in the backward pass. The result is laid out as the reference.
POPLAR_EXPORT poplar::Tensor dropout(poplar::Graph& graph, const poplar::Tensor* seed, const uint32_t seedModifier,
                                     const poplar::Tensor& input, const poplar::Tensor& reference, double keepProbability, double scale,
                                     poplar::program::Sequence& prog, const poplar::DebugContext& debugContext = {});
/// The same; with \p outputClonesRef false the result is laid out as \p input.
POPLAR_EXPORT poplar::Tensor dropout(poplar::Graph& graph, const poplar::Tensor* seed, const uint32_t seedModifier,
                                     const poplar::Tensor& input, const poplar::Tensor& reference, double keepProbability, double scale,
                                     bool outputClonesRef, poplar::program::Sequence& prog, const poplar::DebugContext& debugContext = {});
/// Dropout of whole groups: the mask has the shape of \p reference, which must broadcast to the shape of \p input.
POPLAR_EXPORT poplar::Tensor shapedDropout(poplar::Graph& graph, const poplar::Tensor* seed, const uint32_t seedModifier,
                                           const poplar::Tensor& input, const poplar::Tensor& reference, double keepProbability,
                                           double scale, poplar::program::Sequence& prog, const poplar::DebugContext& debugContext = {});

/// Evenly distributed in [\p minVal, \p maxVal]. FLOAT and HALF: multiples of 2^-24 of the range, rounded. INT: each integer of the
/// range, ends included, equally likely (within 2^-32).
POPLAR_EXPORT poplar::Tensor uniform(poplar::Graph& graph, const poplar::Tensor* seed, uint32_t seedModifier,
                                     const poplar::Tensor& reference, const poplar::Type& outType, double minVal, double maxVal,
                                     poplar::program::Sequence& prog, const poplar::DebugContext& debugContext = {});

/// Numbers in [\p minVal, \p maxVal], 0 < minVal, whose logarithm is evenly distributed. \p outType FLOAT, HALF or INT (rounded down).
/// \p base > 0, not 1, is that of the logarithm; the distribution is the same for any.
POPLAR_EXPORT poplar::Tensor logUniform(poplar::Graph& graph, const poplar::Tensor* seed, uint32_t seedModifier,
                                        const poplar::Tensor& reference, const poplar::Type& outType, double minVal, double maxVal,
                                        poplar::program::Sequence& prog, double base = M_E, const poplar::DebugContext& debugContext = {});

/// 1 with probability \p prob in [0, 1], else 0. \p outType FLOAT, HALF or INT.
POPLAR_EXPORT poplar::Tensor bernoulli(poplar::Graph& graph, const poplar::Tensor* seed, uint32_t seedModifier,
                                       const poplar::Tensor& reference, const poplar::Type& outType, double prob,
                                       poplar::program::Sequence& prog, const poplar::DebugContext& debugContext = {});

/// Normally distributed. \p stdDev >= 0.
POPLAR_EXPORT poplar::Tensor normal(poplar::Graph& graph, const poplar::Tensor* seed, uint32_t seedModifier,
                                    const poplar::Tensor& reference, const poplar::Type& outType, double mean, double stdDev,
                                    poplar::program::Sequence& prog, const poplar::DebugContext& debugContext = {});

/// Normally distributed numbers, those farther than \p alpha > 0 times \p stdDev from the mean drawn again.
POPLAR_EXPORT poplar::Tensor truncatedNormal(poplar::Graph& graph, const poplar::Tensor* seed, uint32_t seedModifier,
                                             const poplar::Tensor& reference, const poplar::Type& outType, double mean, double stdDev,
                                             double alpha, poplar::program::Sequence& prog, const poplar::DebugContext& debugContext = {});

/// Starts the graph's generator from \p masterSeed, UNSIGNED_INT {2}, and the modifier.
POPLAR_EXPORT void setSeed(poplar::Graph& graph, const poplar::Tensor& masterSeed, uint32_t seedModifier, poplar::program::Sequence& prog,
                           const poplar::DebugContext& debugContext = {});

}  // namespace poprand

#endif
