// How pooling is cut into vertices. Tensors are seen as images {images, depth, height, width, channels}: channels that lie together in
// memory are worked on together. An image is worked on whole where there are enough, in boxes of its windows (or elements) otherwise.
#pragma once

#include <popnn/Pooling.hpp>

#include <array>
#include <vector>

#include "poplibs/popnn/pooling/pool_geometry.h"
#include "poplibs/popnn/rows/image_form.h"

namespace popnn::internal {

// Work on images [begin, end), and of each the box of windows (or elements).
struct PoolUnit {
  unsigned tile = 0;
  poplar::Interval images;
  std::array<poplar::Interval, 3> box;
};

using Extents = std::array<std::size_t, 3>;

struct PoolOptions {
  bool follow = true;  // poolUseIntrospectiveMapping: work where the operand lies, if that is spread well
  bool optimize_for_speed = false;
  bool whole_parts =
      true;  // pando.wholeParts: on one tile, parts are cut along the outer dimensions, so that each reads one piece of memory
};

// Units that cover all images of that extent; they lie where `images` does if that is well spread, and options.follow.
std::vector<PoolUnit> plan_units(const poplar::Graph& graph, const poplar::Tensor& images, const Extents& extent,
                                 const PoolOptions& options);

// Checks the parameters and gives them as three dimensions, leading ones of size 1. The boxes are whole.
PoolGeometry geometry_of(const pooling::PoolParams& params, const std::string& function);

// The box of elements that windows need, and of windows that have the elements: never empty, so that there is something to connect.
poplar::Interval elements_of(const PoolDimension& d, const poplar::Interval& windows);
poplar::Interval windows_of(const PoolDimension& d, const poplar::Interval& elements, std::size_t windows);

// The elements of a box of images, flat.
poplar::Tensor part_of(const poplar::Tensor& images, const poplar::Interval& range, const std::array<poplar::Interval, 3>& box);
// A new tensor of images, every unit's part on its tile.
poplar::Tensor add_images(poplar::Graph& graph, const poplar::Type& type, const std::vector<PoolUnit>& units, std::size_t images,
                          const Extents& extent, std::size_t channels, const poplar::DebugContext& debug);

}  // namespace popnn::internal
