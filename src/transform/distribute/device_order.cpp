#include "transform/distribute/device_order.h"

#include "ir/error.h"

#include <algorithm>
#include <string_view>

namespace pando::transform {

namespace {

// The pipeline stands in the place of time.
constexpr std::array<std::string_view, kAxes> kNames = {"data", "expert", "context", "tensor", "pipeline"};

// From the outermost to the innermost.
std::vector<std::size_t> axes_in_order(const Strategy& s) {
  std::vector<std::size_t> named, all;
  for (const std::string& name : s.order) {
    const auto axis = static_cast<std::size_t>(std::find(kNames.begin(), kNames.end(), name) - kNames.begin());
    if (axis == kAxes) {
      ir::reject(ir::ErrorClass::value, "order",
                 "'{}' is not an axis that devices are ordered by; data, expert, context, tensor and pipeline are", name);
    }
    if (std::find(named.begin(), named.end(), axis) != named.end()) ir::reject(ir::ErrorClass::value, "order", "'{}' is there twice", name);
    named.push_back(axis);
  }
  for (std::size_t a = 0; a < kAxes; ++a) {
    if (std::find(named.begin(), named.end(), a) == named.end()) all.push_back(a);
  }
  all.insert(all.end(), named.begin(), named.end());
  return all;
}

}  // namespace

DeviceStrides strides_of(const Strategy& s) {
  const std::array<std::int64_t, kAxes> sizes = {s.data, s.expert, s.context, s.tensor, s.pipeline};
  const std::vector<std::size_t> order = axes_in_order(s);
  DeviceStrides strides;
  std::int64_t next = 1;
  for (std::size_t i = order.size(); i-- > 0; next *= sizes[order[i]]) {
    (order[i] == kTime ? strides.pipeline : strides.of_axis[order[i]]) = next;
  }
  return strides;
}

}  // namespace pando::transform
