#ifndef popnn_NonLinearityDef_hpp
#define popnn_NonLinearityDef_hpp

namespace popnn {

/// Activation functions.
enum class NonLinearityType {
  /// 1 / (1 + exp(-x))
  SIGMOID,
  /// 0.2 x + 0.5, limited to [0, 1]
  HARD_SIGMOID,
  /// x where it is positive, else 0
  RELU,
  TANH,
  /// x Phi(x), with Phi in its tanh form
  GELU,
  /// x Phi(x), Phi the normal distribution function
  GELU_ERF,
  /// x sigmoid(x)
  SWISH,
  /// exp(x) / sum(exp(x)) along the last dimension. Computed as SOFTMAX_STABLE is.
  SOFTMAX,
  /// The same, with the maximum subtracted first: it does not overflow.
  SOFTMAX_STABLE,
  /// SOFTMAX_STABLE times a number that makes good use of half's range; the functions return it as nonLinearityScaling.
  SOFTMAX_SCALED
};

}  // namespace popnn

#endif
