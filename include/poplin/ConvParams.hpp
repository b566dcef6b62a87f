#ifndef poplin_ConvParams_hpp
#define poplin_ConvParams_hpp

#include <poplar/Export.hpp>
#include <poplar/Type.hpp>

#include <cstddef>
#include <functional>
#include <iosfwd>
#include <tuple>
#include <vector>

namespace poplin {

/// What a convolution computes. Per field dimension, with all quantities along that dimension:
///
///   x  the input after: truncate, dilate (dilation - 1 zeros between neighbours), pad with zeros, flip;   size X
///   w  the kernel after the same steps of kernelTransform;                                                 size W
///   y[u] = sum over k of x[u + k] * w[k],  u = 0 ... X - W                                  (a correlation, nothing is flipped)
///   the output is y after: truncate, take every stride-th, pad with zeros.
///
/// If W > X the roles change: y[u] = sum over i of x[i] * w[u + i], u = 0 ... W - X. Beside that, input channels of a group are
/// summed over, and groups and batch elements are independent.
struct POPLAR_EXPORT ConvParams {
  struct POPLAR_EXPORT InputTransform {
    /// Elements dropped at the low and at the high end.
    std::vector<unsigned> truncationLower;
    std::vector<unsigned> truncationUpper;
    /// 1 inserts nothing.
    std::vector<unsigned> dilation;
    /// Zeros added at the low and at the high end.
    std::vector<unsigned> paddingLower;
    std::vector<unsigned> paddingUpper;
    /// Reversed last of all?
    std::vector<bool> flip;

    InputTransform() = default;
    /// The transform that changes nothing, of \p size field dimensions.
    InputTransform(const std::size_t size);
    InputTransform(std::vector<unsigned> truncationLower, std::vector<unsigned> truncationUpper, std::vector<unsigned> dilation,
                   std::vector<unsigned> paddingLower, std::vector<unsigned> paddingUpper, std::vector<bool> flip);
    friend POPLAR_EXPORT bool operator<(const InputTransform& a, const InputTransform& b);
    friend POPLAR_EXPORT bool operator==(const InputTransform& a, const InputTransform& b);
    friend POPLAR_EXPORT bool operator!=(const InputTransform& a, const InputTransform& b);
  };

  struct POPLAR_EXPORT OutputTransform {
    std::vector<unsigned> truncationLower;
    std::vector<unsigned> truncationUpper;
    std::vector<unsigned> stride;
    std::vector<unsigned> paddingLower;
    std::vector<unsigned> paddingUpper;

    OutputTransform() = default;
    /// The transform that changes nothing, of \p size field dimensions.
    OutputTransform(const std::size_t size);
    OutputTransform(std::vector<unsigned> truncationLower, std::vector<unsigned> truncationUpper, std::vector<unsigned> striding,
                    std::vector<unsigned> paddingLower, std::vector<unsigned> paddingUpper);
    friend POPLAR_EXPORT bool operator<(const OutputTransform& a, const OutputTransform& b);
    friend POPLAR_EXPORT bool operator==(const OutputTransform& a, const OutputTransform& b);
    friend POPLAR_EXPORT bool operator!=(const OutputTransform& a, const OutputTransform& b);
  };

  poplar::Type inputType;
  poplar::Type outputType;
  std::size_t batchSize;
  /// Before the input transform.
  std::vector<std::size_t> inputFieldShape;
  /// Before the kernel transform.
  std::vector<std::size_t> kernelShape;
  std::size_t inputChannelsPerConvGroup;
  std::size_t outputChannelsPerConvGroup;
  std::size_t numConvGroups;
  InputTransform inputTransform;
  InputTransform kernelTransform;
  OutputTransform outputTransform;

  ConvParams() = default;
  /// Channel counts are those of one group. Throws poputil::poplibs_error if validate() would.
  ConvParams(poplar::Type dataType, std::size_t batchSize, std::vector<std::size_t> inputFieldShape, std::vector<std::size_t> kernelShape,
             std::size_t inputChannels, std::size_t outputChannels, std::size_t numConvGroups);
  ConvParams(poplar::Type inputType, poplar::Type outputType, std::size_t batchSize, std::vector<std::size_t> inputFieldShape,
             std::vector<std::size_t> kernelShape, std::size_t inputChannels, std::size_t outputChannels, std::size_t numConvGroups);
  ConvParams(poplar::Type inputType, poplar::Type outputType, std::size_t batchSize, std::vector<std::size_t> inputFieldShape,
             std::vector<std::size_t> kernelShape, std::size_t inputChannels, std::size_t outputChannels, std::size_t numConvGroups,
             InputTransform inputTransform, InputTransform kernelTransform, OutputTransform outputTransform);

  /// Size of dimension \p dim of y above.
  std::size_t getUntransformedOutputSize(unsigned dim) const;
  /// Size of dimension \p dim of the result.
  std::size_t getOutputSize(unsigned dim) const;
  std::size_t getNumOutputChansPerConvGroup() const { return outputChannelsPerConvGroup; }
  std::size_t getNumOutputChans() const { return outputChannelsPerConvGroup * numConvGroups; }
  std::size_t getInputSize(unsigned dim) const { return inputFieldShape.at(dim); }
  std::size_t getNumInputChansPerConvGroup() const { return inputChannelsPerConvGroup; }
  std::size_t getNumInputChans() const { return inputChannelsPerConvGroup * numConvGroups; }
  std::size_t getNumConvGroups() const { return numConvGroups; }
  std::size_t getNumFieldDims() const { return inputFieldShape.size(); }
  std::vector<std::size_t> getInputFieldShape() const { return inputFieldShape; }
  std::vector<std::size_t> getKernelShape() const { return kernelShape; }
  std::size_t getBatchSize() const { return batchSize; }
  unsigned getTruncatedInputSize(unsigned dim) const;
  unsigned getTruncatedKernelSize(unsigned dim) const;
  /// Size of dimension \p dim of x above.
  unsigned getTransformedInputSize(unsigned dim) const;
  /// Size of dimension \p dim of w above.
  unsigned getTransformedKernelSize(unsigned dim) const;
  std::vector<size_t> getOutputFieldShape() const;

  /// Throws poputil::poplibs_error if vectors have not one element per field dimension, a stride or dilation is 0, more is
  /// truncated than there is, there is no group, or the transformed kernel is empty.
  void validate() const;
  /// Equal parameters for equal convolutions: what a transform of a dimension of size one or zero cannot change is left out.
  ConvParams canonicalize() const;

  friend POPLAR_EXPORT bool operator<(const ConvParams& a, const ConvParams& b);
  friend POPLAR_EXPORT bool operator==(const ConvParams& a, const ConvParams& b);
  friend POPLAR_EXPORT bool operator!=(const ConvParams& a, const ConvParams& b);
};

/// Writes the parameters as one JSON object, which operator>> reads.
POPLAR_EXPORT std::ostream& operator<<(std::ostream& os, const ConvParams& p);
/// Reads a JSON object as operator<< writes it; members that are absent keep the values of the identity transform.
/// Throws poputil::poplibs_error if it cannot be read, or describes invalid parameters.
POPLAR_EXPORT std::istream& operator>>(std::istream& is, ConvParams& p);

POPLAR_EXPORT std::size_t hash_value(const ConvParams::InputTransform& it);
POPLAR_EXPORT std::size_t hash_value(const ConvParams::OutputTransform& ot);

}  // namespace poplin

namespace std {
template <> struct POPLAR_EXPORT hash<poplin::ConvParams::InputTransform> {
  std::size_t operator()(const poplin::ConvParams::InputTransform& it) const;
};
template <> struct POPLAR_EXPORT hash<poplin::ConvParams::OutputTransform> {
  std::size_t operator()(const poplin::ConvParams::OutputTransform& ot) const;
};
template <> struct POPLAR_EXPORT hash<poplin::ConvParams> {
  std::size_t operator()(const poplin::ConvParams& params) const;
};
}  // namespace std

#endif
