// Activations {batch, channels, field ...} whose channels lie together in memory in groups.
#pragma once

#include <poplar/Graph.hpp>

#include <string>
#include <vector>

namespace popnn::internal {

// {batch, channels, field ...} as images and back. The order of images is the one that such tensors usually have in memory.
struct ImageForm {
  std::size_t batch = 1;
  std::size_t groups = 1;    // of channels
  std::size_t channels = 1;  // of a group

  poplar::Tensor to_images(const poplar::Tensor& t) const;
  poplar::Tensor from_images(const poplar::Tensor& images, const std::vector<std::size_t>& field) const;
};
// As many channels to a group as lie together in `t`, up to a number that vertices can take.
ImageForm image_form_of(const poplar::Tensor& t);
// Throws poplibs_error if there are no whole groups.
ImageForm image_form_of(std::size_t batch, std::size_t channels, std::size_t channels_per_group, const std::string& function);

}  // namespace popnn::internal
