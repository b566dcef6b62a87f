#ifndef popnn_ROIAlign_hpp
#define popnn_ROIAlign_hpp

#include <poplar/DebugContext.hpp>
#include <poplar/Export.hpp>
#include <poplar/Graph.hpp>
#include <poplar/Program.hpp>
#include <poplar/Tensor.hpp>

namespace popnn {
namespace experimental {

/// Each region is cut into alignedHeight_ x alignedWidth_ bins. A bin's value is the mean of samplingRatio_ x samplingRatio_ points, evenly
/// within it, interpolated between the four pixels around each; with a samplingRatio_ of 0 there are as many points as pixels, rounded up.
/// Coordinates times spatialScale_ are pixels, with aligned_ half a pixel less. Without aligned_ a region is one pixel wide and high at
/// least. A point more than a pixel outside the image counts as 0; others outside are moved to its edge.
struct roiAlignParams {
  unsigned long samplingRatio_, alignedHeight_, alignedWidth_;
  bool aligned_;
  float spatialScale_;
  roiAlignParams(unsigned long samplingRatio, unsigned long poolH, unsigned long poolW, bool aligned, float spatialScale)
      : samplingRatio_(samplingRatio), alignedHeight_(poolH), alignedWidth_(poolW), aligned_(aligned), spatialScale_(spatialScale) {}
};

// \p bottomData: images {n, channels, height, width}, FLOAT or HALF. \p bottomRois: regions {number, 4} of that type: left, top, right and
// bottom. \p bottomBatchIndex: {number}, INT or UNSIGNED_INT, each region's image; a region of an image that there is not counts as 0. All
// arithmetic is float. Both throw poputil::poplibs_error for other shapes and types, for sizes of 0 and for a scale that is not
// finite. Add the codelets of popnn and popops first.

/// {number, channels, alignedHeight_, alignedWidth_}, of the images' type.
POPLAR_EXPORT poplar::Tensor roiAlignFwd(poplar::Graph& graph, poplar::program::Sequence& prog, poplar::Tensor& bottomData,
                                         poplar::Tensor& bottomRois, poplar::Tensor& bottomBatchIndex, const roiAlignParams& params,
                                         const poplar::DebugContext& debugContext = {});

/// The images' gradient, given that of the result. \p bottomData gives the shape; its values do not count.
POPLAR_EXPORT poplar::Tensor roiAlignInputGradient(poplar::Graph& graph, poplar::program::Sequence& prog, poplar::Tensor& bottomData,
                                                   poplar::Tensor& bottomRois, poplar::Tensor& bottomBatchIndex,
                                                   poplar::Tensor& topDataGrad, const roiAlignParams& params,
                                                   const poplar::DebugContext& debugContext = {});

}  // namespace experimental
}  // namespace popnn

#endif
