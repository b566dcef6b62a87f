#ifndef popsparse_FullyConnectedParams_hpp
#define popsparse_FullyConnectedParams_hpp

#include <poplar/Export.hpp>
#include <popsparse/SparsityParams.hpp>

#include <cassert>
#include <cmath>
#include <cstddef>
#include <ostream>

namespace popsparse {
namespace dynamic {

/// The shape of a fully connected layer: sparse weights [outputChannels][inputChannels], dense activations [batchSize][inputChannels].
class POPLAR_EXPORT FullyConnectedParams {
  SparsityParams sparsityParams;
  double nzRatio;
  std::size_t batchSize, numGroups, inputChannelsPerGroup, outputChannelsPerGroup;
  FullyConnectedParams(const SparsityParams& sparsity, double ratio, std::size_t batch, std::size_t groups, std::size_t inputs,
                       std::size_t outputs);

 public:
  /// \p nzRatio in (0, 1]: the part of the weights that may be stored.
  /// Throws poplibs_error for another ratio, a size of 0, channels that groups do not divide, and sizes that blocks do not divide.
  static FullyConnectedParams createWithNzRatio(const SparsityParams& sparsityParams, double nzRatio, std::size_t batchSize,
                                                std::size_t numGroups, std::size_t inputChannels, std::size_t outputChannels);
  /// The same by the number of weights, a multiple of a block's.
  static FullyConnectedParams createWithNumNonZeroValues(const SparsityParams& sparsityParams, std::size_t numNonZeroElems,
                                                         std::size_t batchSize, std::size_t numGroups, std::size_t inputChannels,
                                                         std::size_t outputChannels);
  std::size_t getBatchSize() const { return batchSize; }
  std::size_t getNumGroups() const { return numGroups; }
  std::size_t getInputChannels() const { return numGroups * inputChannelsPerGroup; }
  std::size_t getOutputChannels() const { return numGroups * outputChannelsPerGroup; }
  std::size_t getInputChannelsPerGroup() const { return inputChannelsPerGroup; }
  std::size_t getOutputChannelsPerGroup() const { return outputChannelsPerGroup; }
  const SparsityParams& getSparsityParams() const { return sparsityParams; }
  double getNzRatio() const;
  /// Weights that may be stored, whole blocks.
  std::size_t getNumNonZeroValues() const;

  friend POPLAR_EXPORT bool operator<(const FullyConnectedParams& a, const FullyConnectedParams& b);
  friend POPLAR_EXPORT bool operator==(const FullyConnectedParams& a, const FullyConnectedParams& b);
  friend POPLAR_EXPORT bool operator!=(const FullyConnectedParams& a, const FullyConnectedParams& b);
};
POPLAR_EXPORT std::ostream& operator<<(std::ostream& os, const FullyConnectedParams& params);

}  // namespace dynamic
}  // namespace popsparse

#endif
