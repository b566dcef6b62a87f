#include "poplibs/popnn/rows/image_form.h"
#include "poplibs/poputil/reject.h"

#include <algorithm>
#include <numeric>
#include <poputil/exceptions.hpp>

namespace popnn::internal {

using namespace poplar;
using poputil::poplibs_error;

namespace {

constexpr std::size_t kMostChannels = 64;  // of a group

// The greatest divisor of n that is at most `most`.
std::size_t greatest_divisor(std::size_t n, std::size_t most) {
  for (std::size_t d = std::min(n, most); d > 1; --d)
    if (n % d == 0) return d;
  return 1;
}

}  // namespace

Tensor ImageForm::to_images(const Tensor& t) const {
  std::vector<std::size_t> shape = {batch, groups, channels, 1, 1, 1};
  for (unsigned i = 2, n = static_cast<unsigned>(t.rank()); i < n; ++i) shape[6 - (n - i)] = t.dim(i);
  const Tensor split = t.reshape(shape);
  const Tensor ordered = channels > 1 ? split.dimShuffle({1, 0, 3, 4, 5, 2}) : split.dimShuffle({0, 1, 3, 4, 5, 2});
  return ordered.reshape({batch * groups, shape[3], shape[4], shape[5], channels});
}

Tensor ImageForm::from_images(const Tensor& images, const std::vector<std::size_t>& field) const {
  const bool grouped = channels > 1;
  const Tensor split =
      images.reshape({grouped ? groups : batch, grouped ? batch : groups, images.dim(1), images.dim(2), images.dim(3), channels});
  std::vector<std::size_t> shape = {batch, groups * channels};
  shape.insert(shape.end(), field.begin(), field.end());
  return (grouped ? split.dimShuffle({1, 0, 5, 2, 3, 4}) : split.dimShuffle({0, 1, 5, 2, 3, 4})).reshape(shape);
}

ImageForm image_form_of(const Tensor& t) {
  ImageForm form{t.dim(0), t.dim(1), 1};
  if (t.numElements() == 0) return form;
  Tensor channels = t[0];
  while (channels.rank() > 1) channels = channels.slice(0, 1, static_cast<unsigned>(channels.rank() - 1)).squeeze({channels.rank() - 1});
  const auto regions = channels.getContiguousRegions();
  form.channels = greatest_divisor(std::gcd(t.dim(1), regions.front().size()), kMostChannels);
  form.groups = t.dim(1) / form.channels;
  return form;
}

ImageForm image_form_of(std::size_t batch, std::size_t channels, std::size_t channels_per_group, const std::string& function) {
  if (channels_per_group == 0 || channels % channels_per_group != 0)
    poputil::reject("channel-grouping", "{}",
                    function + ": " + std::to_string(channels) + " channels are no multiple of fwdChansPerGroup, " +
                        std::to_string(channels_per_group));
  const std::size_t together = greatest_divisor(channels_per_group, kMostChannels);
  return {batch, channels / together, together};
}

}  // namespace popnn::internal
