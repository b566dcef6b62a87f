#ifndef poplin_FullyConnected_hpp
#define poplin_FullyConnected_hpp

#include <poplar/Export.hpp>
#include <poplin/MatMul.hpp>

#include <cstddef>
#include <utility>
#include <vector>

namespace poplin {
namespace fc {

/// A fully connected layer: numGroups times {batchSize, inputSize} * {inputSize, outputSize}.
struct FullyConnectedParams {
  std::size_t numGroups;
  std::size_t batchSize;
  std::size_t inputSize;
  std::size_t outputSize;
};

/// The products that such a layer takes, for preplanMatMuls, each with \p matmulOptions and its fullyConnectedPass: the forward pass;
/// and, unless \p inferenceOnly, the gradient of the input and that of the weights. Shapes of rank 3.
POPLAR_EXPORT std::vector<std::pair<MatMulParams, poplar::OptionFlags>> getMatMulPrePlanParameters(FullyConnectedParams parameters,
                                                                                                   poplar::OptionFlags matmulOptions,
                                                                                                   poplar::Type type, bool inferenceOnly);

}  // namespace fc
}  // namespace poplin

#endif
