#include "ir/meaning/slices.h"

#include "ir/meaning/elements.h"

#include <algorithm>

namespace pando::ir {

std::vector<SliceRange> slice_ranges(const Shape& shape, const Attributes& a) {
  std::vector<SliceRange> all;
  for (std::int64_t d : shape) all.push_back({0, 1, d});
  const Ints &axes = a.ints("axis"), &start = a.ints("start"), &stop = a.ints("stop"), &step = a.ints("step");
  for (std::size_t i = 0; i < axes.size(); ++i) {
    SliceRange& r = all[static_cast<std::size_t>(axes[i])];
    const std::int64_t extent = r.count;
    const auto clip = [&](std::int64_t v, std::int64_t low, std::int64_t high) {
      if (v < 0) v += extent;
      return std::min(std::max(v, low), high);
    };
    r.step = step[i];
    if (r.step > 0) {
      r.start = clip(start[i], 0, extent);
      r.count = std::max<std::int64_t>(0, clip(stop[i], 0, extent) - r.start);
    } else {
      r.start = clip(start[i], -1, extent - 1);
      // A stop before the first element is spelled as a very small number.
      const std::int64_t end = stop[i] < -extent ? -1 : clip(stop[i], -1, extent - 1);
      r.count = std::max<std::int64_t>(0, r.start - end);
    }
  }
  return all;
}

Shape sliced_shape(const std::vector<SliceRange>& ranges) {
  Shape shape;
  for (const SliceRange& r : ranges) shape.push_back(r.count);
  return shape;
}

std::int64_t slice_source(const Shape& shape, const std::vector<SliceRange>& ranges, std::int64_t i) {
  std::int64_t index = 0, stride = 1;
  for (std::size_t d = shape.size(); d-- > 0;) {
    const std::int64_t at = ranges[d].start + ranges[d].step * (i % ranges[d].count);
    i /= ranges[d].count;
    index += at * stride;
    stride *= shape[d];
  }
  return index;
}

void check_slice(const Inference& in) {
  const Attributes& a = in.attributes();
  const std::size_t n = a.ints("axis").size();
  const bool same = a.ints("start").size() == n && a.ints("stop").size() == n && a.ints("step").size() == n;
  if (!same) in.reject("slice-lengths", "lists of different lengths");
  axes_of(in);
  for (std::int64_t s : a.ints("step")) {
    if (s != 1 && s != -1) in.reject("slice-step", "a step of {}; 1 and -1 are possible (subsample takes others)", s);
  }
}

std::vector<Sample> slice_samples() {
  Sample s;
  s.operands = {{DType::float32, {4, 6}, -2, 2, {}}};
  s.attributes = {{"start", Ints{1, 5}}, {"stop", Ints{3, 0}}, {"step", Ints{1, -1}}, {"axis", Ints{0, 1}}};
  std::vector<Sample> all{s};
  s.operands = {{DType::float16, {3, 5, 2}, -2, 2, {}}};
  s.attributes = {{"start", Ints{-3}}, {"stop", Ints{100}}, {"step", Ints{1}}, {"axis", Ints{1}}};
  all.push_back(s);
  s.attributes = {{"start", Ints{4}}, {"stop", Ints{-100}}, {"step", Ints{-1}}, {"axis", Ints{1}}};
  all.push_back(s);
  s.attributes = {{"start", Ints{}}, {"stop", Ints{}}, {"step", Ints{}}, {"axis", Ints{}}};
  all.push_back(s);
  return all;
}

}  // namespace pando::ir
