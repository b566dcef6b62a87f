#ifndef popnn_Rnn_hpp
#define popnn_Rnn_hpp

#include <poplar/Export.hpp>
#include <poplar/Tensor.hpp>
#include <poplar/Type.hpp>

#include <cstddef>
#include <utility>
#include <vector>

namespace popnn {
namespace rnn {

/// What recurrent layers have in common. Sequences are {time steps, batch, size}.
struct RnnParams {
  poplar::Type dataType;
  std::size_t batchSize = 0;
  std::size_t maxTimeSteps = 0;
  /// Sizes of the input and of the output.
  std::vector<std::size_t> layerSizes;
  /// Sequences of different lengths are not supported: a valid tensor is refused (poputil::poplibs_error).
  poplar::Tensor varTimeSteps;

  RnnParams() = default;
  RnnParams(poplar::Type dataType_, std::size_t batchSize_, std::size_t timeSteps_, std::vector<std::size_t> layerSizes_)
      : dataType(dataType_), batchSize(batchSize_), maxTimeSteps(timeSteps_), layerSizes(std::move(layerSizes_)) {}
  std::size_t getInputSize() const { return layerSizes.at(0); }
  std::size_t getOutputSize() const { return layerSizes.at(1); }
};

}  // namespace rnn
}  // namespace popnn

#endif
