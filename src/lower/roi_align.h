// Regions of interest as matrix products: what a bin takes from an image is a weight of its row times a weight of its column.
#pragma once

#include "lower/lowering.h"

namespace pando::lower {

// {regions, bins high, bins wide, images, height, width}: what each element of the images (batch, channels, height, width) counts in each bin.
// Operands `first` and behind it: the regions, and their images' numbers.
poplar::Tensor roi_weights(OpLowering& o, const ir::Shape& images, std::size_t first, const poplar::Type& type);

}  // namespace pando::lower
