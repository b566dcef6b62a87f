#include "planning/line.h"

#include <algorithm>

namespace pando::planning {

std::int64_t Line::input_of(std::int64_t o, std::int64_t t) const {
  const std::int64_t position = stride * o + offset + step * t;
  if (position < 0 || position % dilation != 0) return -1;
  const std::int64_t i = position / dilation;
  return i < in ? i : -1;
}

Range part(std::int64_t size, std::int64_t parts, std::int64_t n) { return {size * n / parts, size * (n + 1) / parts}; }

Range input_range(const Line& line, Range outputs, Range taps) {
  if (outputs.empty() || taps.empty()) return {};
  const std::int64_t ends[] = {line.step * taps.begin, line.step * (taps.end - 1)};
  const std::int64_t low = line.stride * outputs.begin + line.offset + std::min(ends[0], ends[1]);
  const std::int64_t high = line.stride * (outputs.end - 1) + line.offset + std::max(ends[0], ends[1]);
  if (high < 0) return {};
  Range r{std::max<std::int64_t>(0, (low + (low > 0 ? line.dilation - 1 : 0)) / line.dilation),
          std::min(line.in, high / line.dilation + 1)};
  const auto met = [&](std::int64_t i) {
    for (std::int64_t t = taps.begin; t < taps.end; ++t) {
      const std::int64_t rest = line.dilation * i - line.offset - line.step * t;
      if (rest >= line.stride * outputs.begin && rest <= line.stride * (outputs.end - 1) && rest % line.stride == 0) return true;
    }
    return false;
  };
  while (r.begin < r.end && !met(r.begin)) ++r.begin;
  while (r.begin < r.end && !met(r.end - 1)) --r.end;
  return r.empty() ? Range{} : r;
}

Line part_of(const Line& line, Range outputs, Range inputs) {
  Line part = line;
  part.in = inputs.size();
  part.out = outputs.size();
  part.offset += line.stride * outputs.begin - line.dilation * inputs.begin;
  return part;
}

std::uint64_t meetings(const Line& line) {
  std::uint64_t n = 0;
  for (std::int64_t o = 0; o < line.out; ++o)
    for (std::int64_t t = 0; t < line.taps; ++t) n += line.input_of(o, t) >= 0;
  return n;
}

}  // namespace pando::planning
