#include "ir/meaning/dynamic.h"

#include "ir/meaning/elements.h"

namespace pando::ir {

Shape dynamic_slice_shape(const Inference& in) {
  const Ints axes = axes_of(in, "axes"), &sizes = in.attributes().ints("sizes");
  if (sizes.size() != axes.size()) in.reject("slice-lengths", "{} axes and {} sizes", axes.size(), sizes.size());
  if (elements_of(in.shape(1)) != static_cast<std::int64_t>(axes.size())) {
    in.reject("slice-index", "an index of shape {} for {} axes", to_string(in.shape(1)), axes.size());
  }
  Shape shape = in.shape(0);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    std::int64_t& extent = shape[static_cast<std::size_t>(axes[i])];
    if (sizes[i] < 1 || sizes[i] > extent)
      in.reject("slice-size", "a size of {} along axis {}, which has {} elements", sizes[i], axes[i], extent);
    extent = sizes[i];
  }
  return shape;
}

std::int64_t dynamic_source(const Shape& shape, const Shape& slice, const HostTensor& start, const Attributes& attributes, std::int64_t i) {
  Shape at = coordinates_of(slice, i);
  const Ints& axes = attributes.ints("axes");
  for (std::size_t a = 0; a < axes.size(); ++a) {
    const auto d = static_cast<std::size_t>(axes[a]);
    at[d] = (at[d] + start.integer(static_cast<std::int64_t>(a)) % shape[d] + shape[d]) % shape[d];
  }
  return position_of(shape, at);
}

std::vector<Sample> dynamic_slice_samples() {
  std::vector<Sample> all;
  Sample s;
  s.operands = {{DType::float32, {4, 6}, -2, 2, {}}, {DType::uint32, {2}, 0, 0, {1, 2}}};
  s.attributes = {{"axes", Ints{0, 1}}, {"sizes", Ints{2, 3}}, {"no_overlap", true}};
  all.push_back(s);
  s.operands[1].values = {3, 5};
  all.push_back(s);
  s.operands = {{DType::float16, {5, 2, 3}, -2, 2, {}}, {DType::int32, {1}, 0, 0, {4}}};
  s.attributes = {{"axes", Ints{0}}, {"sizes", Ints{1}}, {"no_overlap", false}};
  all.push_back(s);
  return all;
}

}  // namespace pando::ir
