// Regions of interest as matrix products: what a bin takes from an image is a weight of its row times a weight of its column.
#pragma once

#include "lower/parts/op_lowering.h"

namespace pando::lower {

// The means of the bins of all regions, from images (batch, channels, height, width), and their gradient for the images. Operands `first`
// and behind it: the regions, and their images' numbers. Computed in float.
poplar::Tensor roi_means(OpLowering& o, const poplar::Tensor& images, std::size_t first);
poplar::Tensor roi_means_gradient(OpLowering& o, const poplar::Tensor& dy, const ir::Shape& images, std::size_t first);

}  // namespace pando::lower
