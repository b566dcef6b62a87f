#include "onnx/rules/image/boxes.h"

#include <array>
#include <numeric>

namespace pando::onnx {

namespace {

// Two corners, the lower one first.
std::array<double, 4> corners_of(const HostTensor& boxes, std::int64_t first, bool centre) {
  std::array<double, 4> b{};
  for (std::int64_t i = 0; i < 4; ++i) b[static_cast<std::size_t>(i)] = boxes.number(first + i);
  if (centre) return {b[1] - b[3] / 2, b[0] - b[2] / 2, b[1] + b[3] / 2, b[0] + b[2] / 2};
  return {std::min(b[0], b[2]), std::min(b[1], b[3]), std::max(b[0], b[2]), std::max(b[1], b[3])};
}

double overlap(const std::array<double, 4>& a, const std::array<double, 4>& b) {
  const double h = std::min(a[2], b[2]) - std::max(a[0], b[0]), w = std::min(a[3], b[3]) - std::max(a[1], b[1]);
  if (h <= 0 || w <= 0) return 0;
  const auto area = [](const std::array<double, 4>& x) { return (x[2] - x[0]) * (x[3] - x[1]); };
  const double both = h * w, all = area(a) + area(b) - both;
  return all <= 0 ? 0 : both / all;
}

}  // namespace

void suppress(Context& c) {
  const HostTensor &boxes = c.data(0), &scores = c.data(1);
  const Shape &sb = boxes.shape(), &ss = scores.shape();
  if (sb.size() != 3 || ss.size() != 3 || sb[2] != 4 || ss[0] != sb[0] || ss[2] != sb[1])
    c.reject(fmt::format("boxes of shape {} and scores of {}", ir::to_string(sb), ir::to_string(ss)));
  const std::int64_t most = c.has(2) ? c.integer(2) : 0;
  const double limit = c.has(3) ? c.number(3) : 0, least = c.has(4) ? c.number(4) : 0;
  const bool centre = c.flag("center_point_box", false);
  Ints chosen;
  for (std::int64_t b = 0; b < ss[0]; ++b) {
    for (std::int64_t k = 0; k < ss[1]; ++k) {
      const std::int64_t row = (b * ss[1] + k) * ss[2];
      Ints order;
      for (std::int64_t i = 0; i < ss[2]; ++i) {
        if (!c.has(4) || scores.number(row + i) > least) order.push_back(i);
      }
      std::stable_sort(order.begin(), order.end(),
                       [&](std::int64_t x, std::int64_t y) { return scores.number(row + x) > scores.number(row + y); });
      std::vector<std::array<double, 4>> kept;
      for (std::int64_t i : order) {
        if (static_cast<std::int64_t>(kept.size()) >= most) break;
        const auto box = corners_of(boxes, (b * sb[1] + i) * 4, centre);
        if (std::any_of(kept.begin(), kept.end(), [&](const auto& other) { return overlap(box, other) > limit; })) continue;
        kept.push_back(box);
        chosen.insert(chosen.end(), {b, k, i});
      }
    }
  }
  c.give_known(0, HostTensor::of_ints(DType::int64, {static_cast<std::int64_t>(chosen.size()) / 3, 3}, chosen));
}

}  // namespace pando::onnx
