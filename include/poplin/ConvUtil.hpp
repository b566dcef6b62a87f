#ifndef poplin_ConvUtil_hpp
#define poplin_ConvUtil_hpp

#include <poplar/Export.hpp>
#include <poplin/Convolution.hpp>

#include <tuple>
#include <utility>
#include <vector>

// Indices below are into the tensors as the caller has them: the input and the kernel before their transforms, the output after its
// own. Ranges are half open; an empty one is {0, 0}.

namespace poplin {

/// (size - 1) * dilation + 1, or 0 for size 0.
POPLAR_EXPORT unsigned getDilatedSize(unsigned size, unsigned dilation);
/// The input element that is multiplied with \p kernelIndex for \p outputIndex; ~0U if there is none.
POPLAR_EXPORT unsigned getInputIndex(unsigned dim, unsigned outputIndex, unsigned kernelIndex, const ConvParams& params);
/// The kernel element that is multiplied with \p inputIndex for \p outputIndex; ~0U if there is none.
POPLAR_EXPORT unsigned getKernelIndex(unsigned dim, unsigned outputIndex, unsigned inputIndex, const ConvParams& params);
/// The least range that holds those outputs of \p outputRange to which \p kernelIndex contributes.
POPLAR_EXPORT std::pair<unsigned, unsigned> getOutputRangeForKernelIndex(unsigned dim, std::pair<unsigned, unsigned> outputRange,
                                                                         unsigned kernelIndex, const ConvParams& params);
POPLAR_EXPORT std::pair<unsigned, unsigned> getOutputRangeForInputIndex(unsigned dim, std::pair<unsigned, unsigned> outputRange,
                                                                        unsigned inputIndex, const ConvParams& params);
POPLAR_EXPORT std::pair<unsigned, unsigned> getOutputRangeForKernelRange(unsigned dim, std::pair<unsigned, unsigned> outputRange,
                                                                         std::pair<unsigned, unsigned> kernelIndexRange,
                                                                         const ConvParams& params);
POPLAR_EXPORT std::pair<unsigned, unsigned> getOutputRangeForInputRange(unsigned dim, std::pair<unsigned, unsigned> outputRange,
                                                                        std::pair<unsigned, unsigned> inputRange, const ConvParams& params);
/// The least range that holds the inputs that \p outputRange needs with that kernel element.
POPLAR_EXPORT std::pair<unsigned, unsigned> getInputRange(unsigned dim, std::pair<unsigned, unsigned> outputRange, unsigned kernelIndex,
                                                          const ConvParams& params);
POPLAR_EXPORT std::pair<unsigned, unsigned> getKernelRange(unsigned dim, std::pair<unsigned, unsigned> outputRange, unsigned inputIndex,
                                                           const ConvParams& params);
POPLAR_EXPORT std::pair<unsigned, unsigned> getInputRange(unsigned dim, std::pair<unsigned, unsigned> outputRange,
                                                          std::pair<unsigned, unsigned> kernelIndexRange, const ConvParams& params);
POPLAR_EXPORT std::pair<unsigned, unsigned> getKernelRange(unsigned dim, std::pair<unsigned, unsigned> outputRange,
                                                           std::pair<unsigned, unsigned> inputRange, const ConvParams& params);
inline std::pair<unsigned, unsigned> getInputRange(unsigned dim, unsigned outputIndex, std::pair<unsigned, unsigned> kernelIndexRange,
                                                   const ConvParams& params) {
  return getInputRange(dim, std::pair<unsigned, unsigned>(outputIndex, outputIndex == ~0U ? outputIndex : outputIndex + 1),
                       kernelIndexRange, params);
}
inline std::pair<unsigned, unsigned> getInputRange(unsigned dim, unsigned outputIndex, const ConvParams& params) {
  return getInputRange(dim, outputIndex, std::pair<unsigned, unsigned>(0U, ~0U), params);
}
inline std::pair<unsigned, unsigned> getInputRange(unsigned dim, std::pair<unsigned, unsigned> outputRange, const ConvParams& params) {
  return getInputRange(dim, outputRange, std::pair<unsigned, unsigned>(0U, ~0U), params);
}

/// The convolution that gives the gradient of the input from that of the output; its weights are those of \p params with input and
/// output channels swapped and every field dimension reversed (weightsTransposeChansFlipXY).
POPLAR_EXPORT ConvParams getGradientParams(const ConvParams& params);
/// The convolution that gives the gradient of the weights: its input is the activations with batch and input channels swapped, its
/// weights are the gradient of the output with output channels first, then batch. Its result is
/// {inputChannels, groups * outputChannels, kernel...}.
POPLAR_EXPORT ConvParams getWeightUpdateParams(const ConvParams& fwdParams);

}  // namespace poplin

#endif
