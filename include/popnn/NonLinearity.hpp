#ifndef popnn_NonLinearity_hpp
#define popnn_NonLinearity_hpp

#include <popnn/NonLinearityDef.hpp>

#ifndef __POPC__

#include <poplar/Export.hpp>
#include <poplar/Graph.hpp>
#include <poplar/Program.hpp>

namespace popnn {

/// Activation functions on FLOAT and HALF tensors of any shape, element by element; softmaxes along the last dimension (all
/// elements of a one-dimensional tensor).
///
/// All throw poputil::poplibs_error for other types, for softmaxes of scalars, and, in place, for tensors that are not parallel
/// writeable.

/// t = f(t). The forms with a compute set add to it, and cannot do softmaxes, which need several: poplibs_error.
/// `nonLinearityScaling` receives the number that the result is multiplied with: 62000 for SOFTMAX_SCALED, 1 otherwise.
/// Without that argument SOFTMAX_SCALED is not scaled.
POPLAR_EXPORT void nonLinearityInPlace(poplar::Graph& graph, NonLinearityType nonLinearityType, poplar::Tensor t,
                                       poplar::program::Sequence& prog, const poplar::DebugContext& debugContext = {});
POPLAR_EXPORT void nonLinearityInPlace(poplar::Graph& graph, NonLinearityType nonLinearityType, poplar::Tensor t, poplar::ComputeSet& cs,
                                       const poplar::DebugContext& debugContext = {});
POPLAR_EXPORT void nonLinearityInPlace(poplar::Graph& graph, NonLinearityType nonLinearityType, poplar::Tensor t,
                                       float& nonLinearityScaling, poplar::program::Sequence& prog,
                                       const poplar::DebugContext& debugContext = {});
POPLAR_EXPORT void nonLinearityInPlace(poplar::Graph& graph, NonLinearityType nonLinearityType, poplar::Tensor t,
                                       float& nonLinearityScaling, poplar::ComputeSet& cs, const poplar::DebugContext& debugContext = {});

/// f(t), a new tensor of the same type and shape.
POPLAR_EXPORT poplar::Tensor nonLinearity(poplar::Graph& graph, NonLinearityType nonLinearityType, poplar::Tensor t,
                                          poplar::program::Sequence& prog, const poplar::DebugContext& debugContext = {});
POPLAR_EXPORT poplar::Tensor nonLinearity(poplar::Graph& graph, NonLinearityType nonLinearityType, poplar::Tensor t,
                                          float& nonLinearityScaling, poplar::program::Sequence& prog,
                                          const poplar::DebugContext& debugContext = {});

/// One function per type: sigmoid(graph, t, prog), sigmoidInPlace(graph, t, prog), and both with nonLinearityScaling before prog.
#define DEF_NONLINEARITY_INPLACE(fn, nlType)                                                                                   \
  inline void fn##InPlace(poplar::Graph& graph, poplar::Tensor t, poplar::program::Sequence& prog,                             \
                          const poplar::DebugContext& debugContext = {}) {                                                     \
    nonLinearityInPlace(graph, nlType, t, prog, debugContext);                                                                 \
  }                                                                                                                            \
  inline void fn##InPlace(poplar::Graph& graph, poplar::Tensor t, float& nonLinearityScaling, poplar::program::Sequence& prog, \
                          const poplar::DebugContext& debugContext = {}) {                                                     \
    nonLinearityInPlace(graph, nlType, t, nonLinearityScaling, prog, debugContext);                                            \
  }
#define DEF_NONLINEARITY_(fn, nlType)                                                                                           \
  inline poplar::Tensor fn(poplar::Graph& graph, poplar::Tensor t, poplar::program::Sequence& prog,                             \
                           const poplar::DebugContext& debugContext = {}) {                                                     \
    return nonLinearity(graph, nlType, t, prog, debugContext);                                                                  \
  }                                                                                                                             \
  inline poplar::Tensor fn(poplar::Graph& graph, poplar::Tensor t, float& nonLinearityScaling, poplar::program::Sequence& prog, \
                           const poplar::DebugContext& debugContext = {}) {                                                     \
    return nonLinearity(graph, nlType, t, nonLinearityScaling, prog, debugContext);                                             \
  }
#define DEF_NONLINEARITY(fn, nlType)   \
  DEF_NONLINEARITY_INPLACE(fn, nlType) \
  DEF_NONLINEARITY_(fn, nlType)

DEF_NONLINEARITY(sigmoid, NonLinearityType::SIGMOID)
DEF_NONLINEARITY(relu, NonLinearityType::RELU)
DEF_NONLINEARITY(tanh, NonLinearityType::TANH)
DEF_NONLINEARITY(gelu, NonLinearityType::GELU)
DEF_NONLINEARITY(geluErf, NonLinearityType::GELU_ERF)
DEF_NONLINEARITY(swish, NonLinearityType::SWISH)
DEF_NONLINEARITY(softmax, NonLinearityType::SOFTMAX)
DEF_NONLINEARITY(softmaxStable, NonLinearityType::SOFTMAX_STABLE)
DEF_NONLINEARITY(scaledSoftmaxStable, NonLinearityType::SOFTMAX_SCALED)

/// The gradient of the loss with respect to f's operand, given that with respect to its result (`outGradient`): a new tensor.
/// `act` is f's operand for GELU, GELU_ERF and SWISH, and f's result for all others; of SOFTMAX_SCALED the result that is not scaled.
/// Throws poputil::poplibs_error if shapes or types of the two differ; the form with a compute set also for softmaxes.
POPLAR_EXPORT poplar::Tensor nonLinearityInputGradient(poplar::Graph& graph, NonLinearityType nonLinearityType, poplar::Tensor act,
                                                       poplar::Tensor outGradient, poplar::ComputeSet& cs,
                                                       const poplar::DebugContext& debugContext = {});
POPLAR_EXPORT poplar::Tensor nonLinearityInputGradient(poplar::Graph& graph, NonLinearityType nonLinearityType, poplar::Tensor act,
                                                       poplar::Tensor outGradient, poplar::program::Sequence& prog,
                                                       const poplar::DebugContext& debugContext = {});

}  // namespace popnn

#endif  // __POPC__

#endif
