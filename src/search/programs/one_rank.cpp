#include "search/programs/one_rank.h"

#include "transform/distribute/device_order.h"

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

namespace pando::search {

namespace {

// Devices of the mesh: a size and a distance of neighbours for each axis, the pipeline's last.
struct Numbers {
  std::array<std::pair<std::int64_t, std::int64_t>, transform::kTime + 1> axes;
  std::int64_t first = 0;

  // Calls f with the first device of each group along `axis`.
  template <class F>
  void each_group(std::size_t axis, F f) const {
    std::array<std::int64_t, transform::kTime + 1> at{};
    for (;;) {
      std::int64_t device = first;
      for (std::size_t a = 0; a < axes.size(); ++a) device += at[a] * axes[a].second;
      f(device, at[transform::kTime]);
      std::size_t a = 0;
      for (; a < axes.size(); ++a) {
        if (a == axis) continue;
        if (++at[a] < axes[a].first) break;
        at[a] = 0;
      }
      if (a == axes.size()) return;
    }
  }
};

// In which unit of each level each device of a group is, counted from the first one's.
void units_of(const simulate::Cluster& c, std::int64_t device, std::pair<std::int64_t, std::int64_t> axis, std::vector<std::int64_t>& to) {
  to.clear();
  for (const simulate::NetworkLevel& l : c.levels) {
    for (std::int64_t i = 0; i < axis.first; ++i) to.push_back((device + i * axis.second) / l.devices - device / l.devices);
  }
}

}  // namespace

bool ranks_do_alike(const transform::Strategy& s, const simulate::Cluster& c) {
  for (const std::int32_t degree : {s.data, s.expert, s.context, s.tensor, s.pipeline}) {
    if (degree < 1) return false;
  }
  const transform::DeviceStrides strides = transform::strides_of(s);
  Numbers n;
  n.first = s.first_device;
  const std::array<std::int64_t, transform::kTime> sizes{s.data, s.expert, s.context, s.tensor};
  std::int64_t last = s.first_device;
  for (std::size_t a = 0; a < transform::kTime; ++a) n.axes[a] = {sizes[a], strides.of_axis[a]};
  n.axes[transform::kTime] = {s.pipeline, strides.pipeline};
  for (const auto& [size, stride] : n.axes) last += (size - 1) * stride;
  const std::size_t widest = c.levels.empty() ? 0 : c.level_of(s.first_device, last);
  for (std::size_t l = 0; l < c.levels.size() && l <= widest; ++l) {
    if (c.levels[l].shared_bytes_per_second > 0) return false;
  }
  std::vector<std::int64_t> here;
  for (std::size_t axis = 0; axis < n.axes.size(); ++axis) {
    if (n.axes[axis].first == 1) continue;
    // By pipeline rank: each has ops of its own.
    std::vector<std::vector<std::int64_t>> first(static_cast<std::size_t>(s.pipeline));
    bool alike = true;
    n.each_group(axis, [&](std::int64_t device, std::int64_t rank) {
      units_of(c, device, n.axes[axis], here);
      auto& known = first[static_cast<std::size_t>(rank)];
      if (known.empty()) known = here;
      alike = alike && known == here;
    });
    if (!alike) return false;
  }
  return true;
}

}  // namespace pando::search
