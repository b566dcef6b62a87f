#include "onnx/rules/image/grid_sampling.h"

#include "ir/meaning/formula.h"

#include <cmath>

namespace pando::onnx {

namespace {

using Formula = ir::Formula<Context>;

struct Sampling {
  std::string mode, padding;
  bool corners;
  Ints spatial;
  std::int64_t batch, channels, places;
};

// Back and forth between two ends.
Formula reflected(Context& c, const Formula& x, double low, double high) {
  if (high <= low) return x * 0.0;
  const double span = high - low;
  const Formula away = Formula{&c, (x - low).op("abs")};
  // The rest of twice the span: beyond the span it comes back.
  const Formula rest = away.op("fmod", away.number(2 * span));
  return Formula{&c, c.where(rest.op("greater", rest.number(span)), (2 * span) - rest, rest)} + low;
}

// A coordinate as the padding brings it inside.
Formula brought_inside(Context& c, const Formula& x, std::int64_t extent, const Sampling& s) {
  const auto last = static_cast<double>(extent - 1);
  const Attributes range{{"min", 0.0}, {"max", last}};
  if (s.padding == "border") return x.op("clip", range);
  if (s.padding == "reflection") return reflected(c, x, s.corners ? 0 : -0.5, s.corners ? last : last + 0.5).op("clip", range);
  return x;
}

// One element near each place, along one axis: its whole coordinate and what it counts.
struct Tap {
  ValueId position, weight;
};

std::vector<Tap> taps_of_axis(Context& c, const Formula& grid, std::int64_t extent, const Sampling& s) {
  const auto e = static_cast<double>(extent);
  Formula x = s.corners ? (grid + 1.0) * ((e - 1) / 2) : ((grid + 1.0) * e - 1.0) / 2.0;
  if (s.mode != "cubic") x = brought_inside(c, x, extent, s);
  if (s.mode == "nearest") return {{x.op("round"), ValueId()}};
  const Formula low = x.op("floor"), t = x - low;
  if (s.mode == "linear") return {{low, 1.0 - t}, {low + 1.0, t}};
  // Cubic convolution with a coefficient of -0.75; outside, elements are brought in one by one.
  const double a = -0.75;
  std::vector<Tap> taps;
  for (int i = -1; i <= 2; ++i) {
    const Formula d = i <= 0 ? t + static_cast<double>(-i) : static_cast<double>(i) - t;
    const Formula near = ((d * (a + 2) - (a + 3)) * d * d) + 1.0, far = ((d * a - 5 * a) * d + 8 * a) * d - 4 * a;
    taps.push_back({brought_inside(c, low + static_cast<double>(i), extent, s), i == 0 || i == 1 ? near : far});
  }
  return taps;
}

// The elements at one combination of taps: (batch * places, channels), 0 outside.
ValueId fetched(Context& c, ValueId rows, const std::vector<Tap>& taps, const Sampling& s) {
  const std::int64_t size = ir::elements_of(s.spatial);
  ValueId at = c.scalar(DType::int32, 0), inside;
  for (std::size_t d = 0; d < taps.size(); ++d) {
    const Formula x{&c, taps[d].position};
    const auto last = static_cast<double>(s.spatial[d] - 1);
    if (s.padding == "zeros") {
      const ValueId here = c.op("logical_not", {c.op("logical_or", {x.op("less", x.number(0)), x.op("greater", x.number(last))})});
      inside = inside.valid() ? c.op("logical_and", {inside, here}) : here;
    }
    const ValueId whole = c.cast(x.op("clip", {{"min", 0.0}, {"max", last}}), DType::int32);
    at = c.op("add", {c.op("mul", {at, c.scalar(DType::int32, static_cast<double>(s.spatial[d]))}), whole});
  }
  Ints offsets;
  for (std::int64_t b = 0; b < s.batch; ++b) offsets.push_back(b * size);
  at = c.op("add", {at, c.reshape(c.integers(offsets), {s.batch, 1})});
  ValueId found = c.op("gather", {rows, c.reshape(at, {s.batch * s.places})}, {{"axis", std::int64_t{0}}});
  if (inside.valid()) found = c.where(c.reshape(inside, {s.batch * s.places, 1}), found, c.scalar(c.dtype(found), 0));
  return found;
}

}  // namespace

void sample_grid(Context& c) {
  const Shape x = c.shape_of(0), g = c.shape_of(1);
  const std::size_t n = x.size() < 3 ? 0 : x.size() - 2;
  if (n < 1 || g.size() != x.size() || g[0] != x[0] || g.back() != static_cast<std::int64_t>(n))
    c.reject(fmt::format("data of shape {} and a grid of {}", ir::to_string(x), ir::to_string(g)));
  Sampling s;
  s.mode = c.word("mode", "linear", {"linear", "nearest", "cubic", "bilinear", "bicubic"});
  if (s.mode.starts_with("bi")) s.mode = s.mode.substr(2);
  if (s.mode == "cubic" && n > 2) c.reject("cubic samples of more than two dimensions");
  s.padding = c.word("padding_mode", "zeros", {"zeros", "border", "reflection"});
  s.corners = c.flag("align_corners", false);
  s.spatial = Ints(x.begin() + 2, x.end());
  s.batch = x[0];
  s.channels = x[1];
  s.places = ir::elements_of(Shape(g.begin() + 1, g.end() - 1));
  if (ir::elements_of(s.spatial) == 0) c.reject("data without elements");
  const std::int64_t size = ir::elements_of(s.spatial);
  const ValueId rows =
      c.reshape(c.transpose(c.reshape(c.operand(0), {s.batch, s.channels, size}), {0, 2, 1}), {s.batch * size, s.channels});
  const ValueId grid = c.cast(c.reshape(c.operand(1), {s.batch, s.places, static_cast<std::int64_t>(n)}), DType::float32);
  std::vector<std::vector<Tap>> taps;
  std::size_t combinations = 1;
  for (std::size_t d = 0; d < n; ++d) {
    // The grid names the last dimension first.
    const ValueId one = c.reshape(c.slice(grid, 2, static_cast<std::int64_t>(n - 1 - d), 1), {s.batch, s.places});
    taps.push_back(taps_of_axis(c, Formula{&c, one}, s.spatial[d], s));
    combinations *= taps.back().size();
  }
  const DType dtype = c.dtype_of(0);
  ValueId sum;
  for (std::size_t k = 0; k < combinations; ++k) {
    std::vector<Tap> chosen;
    std::size_t rest = k;
    ValueId weight;
    for (const auto& axis : taps) {
      chosen.push_back(axis[rest % axis.size()]);
      rest /= axis.size();
      const ValueId w = chosen.back().weight;
      if (w.valid()) weight = weight.valid() ? c.op("mul", {weight, w}) : w;
    }
    ValueId part = fetched(c, rows, chosen, s);
    if (weight.valid()) part = c.op("mul", {c.cast(part, DType::float32), c.reshape(weight, {s.batch * s.places, 1})});
    sum = sum.valid() ? c.op("add", {sum, part}) : part;
  }
  Shape out{s.batch, s.channels};
  out.insert(out.end(), g.begin() + 1, g.end() - 1);
  c.give(c.cast(c.reshape(c.transpose(c.reshape(sum, {s.batch, s.places, s.channels}), {0, 2, 1}), out), dtype));
}

}  // namespace pando::onnx
