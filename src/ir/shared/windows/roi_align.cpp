#include "ir/shared/windows/roi_align.h"

#include "ir/error.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace pando::ir {

namespace {

// Bins along one direction of a region.
struct Bins {
  double start = 0, size = 1;
  std::int64_t samples = 1;
  double at(std::int64_t bin, std::int64_t sample) const {
    return start + (static_cast<double>(bin) + (static_cast<double>(sample) + 0.5) / static_cast<double>(samples)) * size;
  }
};

Bins bins_of(double from, double to, std::int64_t bins, std::int64_t ratio) {
  Bins b;
  b.start = from;
  b.size = std::max(to - from, 1.0) / static_cast<double>(bins);
  b.samples = ratio > 0 ? ratio : std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(b.size)));
  return b;
}

// The two elements that a position lies between, with their weights.
struct Between {
  bool outside = true;
  std::array<std::int64_t, 2> at{0, 0};
  std::array<double, 2> weight{0, 0};
};

Between between(double x, std::int64_t extent) {
  if (x < -1 || x > static_cast<double>(extent)) return {};
  x = std::max(x, 0.0);
  const auto low = static_cast<std::int64_t>(x);
  if (low >= extent - 1) return {false, {extent - 1, extent - 1}, {1, 0}};
  const double part = x - static_cast<double>(low);
  return {false, {low, low + 1}, {1 - part, part}};
}

}  // namespace

Shape roi_shape(const Inference& in, const Shape& images, std::size_t first) {
  const Ints& size = in.attributes().ints("output_size");
  const Shape &rois = in.shape(first), &numbers = in.shape(first + 1);
  if (images.size() != 4)
    in.reject("roi-images", "images of shape {}; they need a batch, channels, a height and a width", to_string(images));
  if (rois.size() != 2 || rois[1] != 4) in.reject("roi-regions", "regions of shape {}; they are (regions, 4)", to_string(rois));
  if (numbers != Shape{rois[0]}) in.reject("roi-batch-index", "{} regions, and images' numbers of shape {}", rois[0], to_string(numbers));
  if (size.size() != 2 || size[0] < 1 || size[1] < 1) in.reject("roi-output-size", "output_size needs two numbers of at least 1");
  if (in.attributes().integer("sampling_ratio") < 0)
    in.reject("roi-sampling", "a sampling ratio of {}", in.attributes().integer("sampling_ratio"));
  return {rois[0], images[1], size[0], size[1]};
}

void for_each_roi_sample(const Evaluation& e, const Shape& images, std::size_t first,
                         const std::function<void(std::int64_t, std::int64_t, double)>& f) {
  const HostTensor &rois = e.operand(first), &numbers = e.operand(first + 1);
  const Ints& size = e.attributes().ints("output_size");
  const double scale = e.attributes().number("spatial_scale");
  const std::int64_t ratio = e.attributes().integer("sampling_ratio"), channels = images[1], height = images[2], width = images[3];
  for (std::int64_t r = 0; r < numbers.elements(); ++r) {
    const std::int64_t image = numbers.integer(r);
    if (image < 0 || image >= images[0]) reject(ErrorClass::runtime, "roi-image", "region {} lies on image {}, of {}", r, image, images[0]);
    const Bins x = bins_of(rois.number(4 * r) * scale, rois.number(4 * r + 2) * scale, size[1], ratio);
    const Bins y = bins_of(rois.number(4 * r + 1) * scale, rois.number(4 * r + 3) * scale, size[0], ratio);
    const double share = 1.0 / static_cast<double>(x.samples * y.samples);
    for (std::int64_t bin = 0; bin < size[0] * size[1]; ++bin) {
      for (std::int64_t s = 0; s < x.samples * y.samples; ++s) {
        const Between v = between(y.at(bin / size[1], s / x.samples), height), h = between(x.at(bin % size[1], s % x.samples), width);
        if (v.outside || h.outside) continue;
        for (int corner = 0; corner < 4; ++corner) {
          const auto i = static_cast<std::size_t>(corner / 2), j = static_cast<std::size_t>(corner % 2);
          // A weight of 0 inside the image counts: of what is not a number nothing is known.
          const double weight = share * v.weight[i] * h.weight[j];
          for (std::int64_t c = 0; c < channels; ++c) {
            f((r * channels + c) * size[0] * size[1] + bin, ((image * channels + c) * height + v.at[i]) * width + h.at[j], weight);
          }
        }
      }
    }
  }
}

std::vector<Sample> roi_samples() {
  Sample s;
  s.operands = {{DType::float32, {2, 2, 6, 7}, -2, 2, {}},
                {DType::float32, {3, 4}, 0, 0, {0, 0, 6, 6, 2, 2, 11, 9, 1.5, 3, 4, 8}},
                {DType::int32, {3}, 0, 1, {0, 1, 1}}};
  s.attributes = {{"output_size", Ints{3, 2}}, {"spatial_scale", 0.5}, {"sampling_ratio", std::int64_t{2}}};
  Sample adaptive = s;
  adaptive.attributes.set("sampling_ratio", std::int64_t{0});
  return {s, adaptive};
}

}  // namespace pando::ir
