#ifndef popnn_Pooling_hpp
#define popnn_Pooling_hpp

#include <poplar/Export.hpp>
#include <poplar/Graph.hpp>
#include <poplar/OptionFlags.hpp>
#include <poplar/Program.hpp>

#include <popnn/PoolingDef.hpp>

#include <cstddef>
#include <cstdint>
#include <ostream>
#include <tuple>
#include <utility>
#include <vector>

namespace popnn {
namespace pooling {

/// A pooling operation over fields of one to three dimensions. Window o of a dimension covers the elements
/// [o * stride - inputTruncationOrPaddingLower, + kernelShape) of the field. Positive values pad the field at that end: elements of
/// the padding take no part in any result, and averages are of the elements that do. Negative values leave as many elements out.
struct POPLAR_EXPORT PoolParams {
  PoolingType poolingType;
  std::vector<std::size_t> inputFieldShape;
  std::vector<std::size_t> kernelShape;
  std::vector<unsigned> stride;
  std::vector<int> inputTruncationOrPaddingLower;
  std::vector<int> inputTruncationOrPaddingUpper;
  std::size_t numChannels;
  std::size_t batchSize;
  /// FLOAT or HALF. Sums are made in float.
  poplar::Type dType;

  PoolParams(PoolingType poolingType, std::vector<std::size_t> inputFieldShape, std::vector<std::size_t> kernelShape,
             std::vector<unsigned> stride, std::vector<int> inputTruncationOrPaddingLower, std::vector<int> inputTruncationOrPaddingUpper,
             std::size_t numChannels, std::size_t batchSize, poplar::Type dType)
      : poolingType(poolingType),
        inputFieldShape(std::move(inputFieldShape)),
        kernelShape(std::move(kernelShape)),
        stride(std::move(stride)),
        inputTruncationOrPaddingLower(std::move(inputTruncationOrPaddingLower)),
        inputTruncationOrPaddingUpper(std::move(inputTruncationOrPaddingUpper)),
        numChannels(numChannels),
        batchSize(batchSize),
        dType(dType) {}

  std::size_t getNumFieldDims() const { return inputFieldShape.size(); }
  /// The number of windows in each dimension. Throws as popnn::pooling::getOutputFieldShape does.
  std::vector<std::size_t> getOutputFieldShape() const;
};

POPLAR_EXPORT std::ostream& operator<<(std::ostream& o, const PoolParams& params);
/// "max", "avg" or "sum".
POPLAR_EXPORT const char* asString(const PoolingType& method);

/// The number of windows in each dimension: those that fit the padded (or truncated) field. Throws poputil::poplibs_error unless all
/// vectors have as many elements as the field has dimensions, one to three; strides, kernels and the field are not 0; and at least
/// one window fits.
POPLAR_EXPORT std::vector<std::size_t> getOutputFieldShape(const PoolParams& params);

/// Floating-point operations of pool, and of its gradient.
POPLAR_EXPORT uint64_t getFwdFlops(const PoolParams& params);
POPLAR_EXPORT uint64_t getBwdFlops(const PoolParams& params);
/// Cycles that they would take if every tile did a whole vector of operations in each.
POPLAR_EXPORT double getFwdPerfectCycleCount(const poplar::Graph& graph, const PoolParams& params);
POPLAR_EXPORT double getBwdPerfectCycleCount(const poplar::Graph& graph, const PoolParams& params);

/// Pools \p in {batch, channels, field ...} into a new tensor {batch, channels, windows ...}. A window that has no element of the field
/// gives 0.
///
/// Options: poolUseIntrospectiveMapping (true, false) [true]: work where the operand lies, if that is spread well; otherwise over all
/// tiles in order. pando.wholeParts (true, false) [true]: on one tile, parts are cut along the outer dimensions alone, so that each reads
/// one piece of memory. optimizeForSpeed (true, false) [false] is accepted and changes nothing. Throws poputil::poplibs_error if shapes or
/// types differ from those of \p params, poplar::invalid_option for other options.
POPLAR_EXPORT poplar::Tensor pool(poplar::Graph& graph, const PoolParams& params, const poplar::Tensor& in, poplar::program::Sequence& prog,
                                  const poplar::DebugContext& debugContext = {}, const poplar::OptionFlags& options = {});

/// The gradient with respect to \p in, {batch, channels, field ...}, given that with respect to \p pooled. Of MAX every element that
/// equals a window's maximum gets the window's gradient; with \p useScaledGradient, its part of it, all getting the same. Of AVG and
/// SUM, \p in gives the layout alone. Options and errors as for pool.
POPLAR_EXPORT poplar::Tensor poolInputGradient(poplar::Graph& graph, const PoolParams& params, const poplar::Tensor& in,
                                               const poplar::Tensor& pooled, const poplar::Tensor& pooledGradient, bool useScaledGradient,
                                               poplar::program::Sequence& prog, const poplar::DebugContext& debugContext = {},
                                               const poplar::OptionFlags& options = {});

/// The same for AVG and SUM, without the operand: \p fwdChansPerGroup channels lie together in the result. Throws
/// poputil::poplibs_error for MAX, and if the channels are no multiple of that number.
POPLAR_EXPORT poplar::Tensor poolInputGradient(poplar::Graph& graph, const PoolParams& params, const unsigned fwdChansPerGroup,
                                               const poplar::Tensor& pooledGradient, poplar::program::Sequence& prog,
                                               const poplar::DebugContext& debugContext = {}, const poplar::OptionFlags& options = {});

}  // namespace pooling
}  // namespace popnn

#endif
