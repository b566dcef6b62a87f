#include "onnx/rules/image/resizing.h"

#include <cmath>

namespace pando::onnx {

namespace {

// One axis: from n elements to m.
struct AxisResize {
  std::int64_t n = 1, m = 1;
  double scale = 1;
  double start = 0, end = 1;  // of tf_crop_and_resize
};

struct ResizeMode {
  std::string kind, coordinates, nearest;
  double cubic = -0.75, outside = 0;
  bool exclude = false, antialias = false;
};

// Where element x of the result lies among the elements of the data.
double position_of_result(const AxisResize& a, const ResizeMode& mode, double x) {
  const auto n = static_cast<double>(a.n), m = static_cast<double>(a.m);
  const double length = a.scale * n;
  if (mode.coordinates == "asymmetric") return x / a.scale;
  if (mode.coordinates == "align_corners") return length == 1 ? 0 : x * (n - 1) / (length - 1);
  if (mode.coordinates == "tf_half_pixel_for_nn") return (x + 0.5) / a.scale;
  if (mode.coordinates == "pytorch_half_pixel") return m > 1 ? (x + 0.5) / a.scale - 0.5 : 0;
  if (mode.coordinates == "half_pixel_symmetric") {
    const double centre = n / 2, adjustment = m / length;
    return centre * (1 - adjustment) + (x + 0.5) / a.scale - 0.5;
  }
  if (mode.coordinates == "tf_crop_and_resize") {
    return m > 1 ? a.start * (n - 1) + x * (a.end - a.start) * (n - 1) / (m - 1) : 0.5 * (a.start + a.end) * (n - 1);
  }
  return (x + 0.5) / a.scale - 0.5;
}

std::int64_t nearest_to(double x, const std::string& how) {
  const double low = std::floor(x), part = x - low;
  if (how == "floor") return static_cast<std::int64_t>(low);
  if (how == "ceil") return static_cast<std::int64_t>(std::ceil(x));
  if (how == "round_prefer_ceil") return static_cast<std::int64_t>(part >= 0.5 ? low + 1 : low);
  return static_cast<std::int64_t>(part > 0.5 ? low + 1 : low);
}

// What an element at distance d counts.
double kernel_at(const ResizeMode& mode, double d) {
  d = std::abs(d);
  if (mode.kind == "linear") return std::max(0.0, 1 - d);
  const double a = mode.cubic;
  if (d <= 1) return ((a + 2) * d - (a + 3)) * d * d + 1;
  return d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a : 0;
}

// Row-major (m, n): what each element of the data gives to each of the result.
std::vector<double> matrix_of_axis(const AxisResize& a, const ResizeMode& mode) {
  const double narrow = mode.antialias ? std::min(a.scale, 1.0) : 1.0, reach = (mode.kind == "linear" ? 1 : 2) / narrow;
  std::vector<double> all(static_cast<std::size_t>(a.m * a.n));
  for (std::int64_t r = 0; r < a.m; ++r) {
    const double x = position_of_result(a, mode, static_cast<double>(r));
    double sum = 0;
    const auto first = static_cast<std::int64_t>(std::ceil(x - reach)), last = static_cast<std::int64_t>(std::floor(x + reach));
    for (std::int64_t i = first; i <= last; ++i) {
      const bool inside = i >= 0 && i < a.n;
      if (mode.exclude && !inside) continue;
      const double w = kernel_at(mode, (static_cast<double>(i) - x) * narrow);
      // The ends go on outside.
      all[static_cast<std::size_t>(r * a.n + std::clamp<std::int64_t>(i, 0, a.n - 1))] += w;
      sum += w;
    }
    for (std::int64_t i = 0; i < a.n && sum != 0; ++i) all[static_cast<std::size_t>(r * a.n + i)] /= sum;
  }
  return all;
}

ValueId resize_axis(Context& c, ValueId v, std::int64_t axis, const AxisResize& a, const ResizeMode& mode) {
  if (mode.kind == "nearest") {
    Ints sources;
    for (std::int64_t r = 0; r < a.m; ++r)
      sources.push_back(
          std::clamp<std::int64_t>(nearest_to(position_of_result(a, mode, static_cast<double>(r)), mode.nearest), 0, a.n - 1));
    return c.composition("take", {v}, {{"indices", sources}, {"axis", axis}});
  }
  if (a.m * a.n > std::int64_t{1} << 24) c.reject(fmt::format("{} elements made of {}", a.m, a.n));
  // (rest, n) times (n, m), with the axis behind all others.
  const ValueId matrix = c.constant(HostTensor::of_floats(c.dtype(v), {a.m, a.n}, matrix_of_axis(a, mode)));
  Ints order;
  for (std::int64_t d = 0; d < c.rank(v); ++d) {
    if (d != axis) order.push_back(d);
  }
  order.push_back(axis);
  Ints back(order.size());
  for (std::size_t d = 0; d < order.size(); ++d) back[static_cast<std::size_t>(order[d])] = static_cast<std::int64_t>(d);
  const ValueId turned = c.transpose(v, order);
  Shape shape = c.shape(turned);
  const ValueId rows = c.reshape(turned, {ir::elements_of(shape) / a.n, a.n});
  shape.back() = a.m;
  return c.transpose(c.reshape(c.op("matmul", {rows, c.transpose(matrix, {1, 0})}), shape), back);
}

// Axes whose result may lie outside of the data: there it is a number.
ValueId with_outside(Context& c, ValueId y, const std::vector<AxisResize>& axes, const ResizeMode& mode) {
  for (std::size_t d = 0; d < axes.size(); ++d) {
    const AxisResize& a = axes[d];
    HostTensor inside(DType::boolean, {a.m});
    bool all = true;
    for (std::int64_t r = 0; r < a.m; ++r) {
      const double x = position_of_result(a, mode, static_cast<double>(r));
      const bool in = x >= 0 && x <= static_cast<double>(a.n - 1);
      inside.set_integer(r, in);
      all = all && in;
    }
    if (all) continue;
    Shape beside(axes.size(), 1);
    beside[d] = a.m;
    y = c.where(c.constant(inside.reshaped(beside)), y, c.scalar(c.dtype(y), mode.outside));
  }
  return y;
}

void resize_axes(Context& c, const std::vector<AxisResize>& axes, const ResizeMode& mode) {
  Shape out;
  for (const AxisResize& a : axes) {
    if (a.n < 1 || a.m < 1) c.reject(fmt::format("{} elements made of {}", a.m, a.n));
    out.push_back(a.m);
  }
  c.check_shape(out);
  const DType dtype = c.dtype_of(0);
  const bool nearest = mode.kind == "nearest";
  ValueId v = c.operand(0);
  if (!nearest && !ir::is_floating(dtype)) v = c.cast(v, DType::float32);
  for (std::size_t d = 0; d < axes.size(); ++d) {
    const AxisResize& a = axes[d];
    if (a.n == a.m && a.scale == 1 && a.start == 0 && a.end == 1) continue;
    v = resize_axis(c, v, static_cast<std::int64_t>(d), a, mode);
  }
  if (mode.coordinates == "tf_crop_and_resize") v = with_outside(c, v, axes, mode);
  v = c.cast(v, dtype);
  c.give(v == c.operand(0) ? c.op("identity", {v}) : v);
}

ResizeMode resize_mode(Context& c) {
  ResizeMode m;
  m.kind = c.word("mode", "nearest", {"nearest", "linear", "cubic"});
  m.coordinates = c.opset < 11 ? "asymmetric"
                               : c.word("coordinate_transformation_mode", "half_pixel",
                                        {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric",
                                         "tf_half_pixel_for_nn", "tf_crop_and_resize"});
  m.nearest =
      c.opset < 11 ? "floor" : c.word("nearest_mode", "round_prefer_floor", {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"});
  m.cubic = c.real("cubic_coeff_a", -0.75);
  m.outside = c.real("extrapolation_value", 0);
  m.exclude = c.flag("exclude_outside", false);
  m.antialias = c.flag("antialias", false);
  return m;
}

// What the last operands say: lengths, or factors.
void read_sizes(Context& c, std::vector<AxisResize>& axes, const Ints& chosen, std::size_t scales, std::size_t sizes) {
  const bool by_size = sizes < 4 && c.has(sizes) && !c.data(sizes).shape().empty() && c.data(sizes).elements() > 0;
  if (by_size) {
    const Ints wanted = c.integers(sizes);
    if (wanted.size() != chosen.size()) c.reject(fmt::format("{} sizes for {} axes", wanted.size(), chosen.size()));
    const std::string policy = c.word("keep_aspect_ratio_policy", "stretch", {"stretch", "not_larger", "not_smaller"});
    double common = policy == "not_larger" ? 1e300 : 0;
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      AxisResize& a = axes[static_cast<std::size_t>(chosen[i])];
      if (wanted[i] < 1 || a.n < 1) c.reject(fmt::format("{} elements made of {}", wanted[i], a.n));
      a.m = wanted[i];
      a.scale = static_cast<double>(a.m) / static_cast<double>(a.n);
      common = policy == "not_larger" ? std::min(common, a.scale) : std::max(common, a.scale);
    }
    if (policy == "stretch") return;
    for (std::int64_t i : chosen) {
      AxisResize& a = axes[static_cast<std::size_t>(i)];
      a.scale = common;
      a.m = static_cast<std::int64_t>(std::floor(common * static_cast<double>(a.n) + 0.5));
    }
    return;
  }
  if (!c.has(scales)) c.reject("it has neither scales nor sizes");
  const HostTensor& factors = c.data(scales);
  if (factors.elements() != static_cast<std::int64_t>(chosen.size()))
    c.reject(fmt::format("{} scales for {} axes", factors.elements(), chosen.size()));
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    AxisResize& a = axes[static_cast<std::size_t>(chosen[i])];
    a.scale = factors.number(static_cast<std::int64_t>(i));
    const double length = std::floor(a.scale * static_cast<double>(a.n));
    if (!(a.scale > 0) || !(length < 1e12)) c.reject(fmt::format("a scale of {}", a.scale));
    a.m = static_cast<std::int64_t>(length);
  }
}

std::vector<AxisResize> axes_of_data(const Context& c) {
  std::vector<AxisResize> axes;
  for (std::int64_t n : c.shape_of(0)) axes.push_back({.n = n, .m = n});
  return axes;
}

}  // namespace

void resize(Context& c) {
  const ResizeMode mode = resize_mode(c);
  std::vector<AxisResize> axes = axes_of_data(c);
  std::optional<Ints> chosen = c.axes("axes", 99, axes.size());
  if (!chosen) {
    chosen.emplace();
    for (std::size_t d = 0; d < axes.size(); ++d) chosen->push_back(static_cast<std::int64_t>(d));
  }
  // Before opset 11 there is no region: the second operand are the scales.
  read_sizes(c, axes, *chosen, c.opset < 11 ? 1 : 2, c.opset < 11 ? 99 : 3);
  if (mode.coordinates == "tf_crop_and_resize") {
    const HostTensor& roi = c.data(1);
    const auto n = static_cast<std::int64_t>(chosen->size());
    if (roi.elements() != 2 * n) c.reject(fmt::format("a region of {} numbers for {} axes", roi.elements(), n));
    for (std::int64_t i = 0; i < n; ++i) {
      AxisResize& a = axes[static_cast<std::size_t>((*chosen)[static_cast<std::size_t>(i)])];
      a.start = roi.number(i);
      a.end = roi.number(n + i);
    }
  }
  resize_axes(c, axes, mode);
}

void upsample(Context& c) {
  ResizeMode mode;
  mode.kind = c.word("mode", "nearest", {"nearest", "linear"});
  mode.coordinates = "asymmetric";
  mode.nearest = "floor";
  std::vector<AxisResize> axes = axes_of_data(c);
  Ints all;
  for (std::size_t d = 0; d < axes.size(); ++d) all.push_back(static_cast<std::int64_t>(d));
  if (!c.has("scales")) {
    read_sizes(c, axes, all, 1, 99);
  } else {
    const std::vector<float>& factors = c.node.attributes.at("scales").reals;
    if (factors.size() != axes.size()) c.reject(fmt::format("{} scales for {} axes", factors.size(), axes.size()));
    for (std::size_t d = 0; d < axes.size(); ++d) {
      axes[d].scale = factors[d];
      if (!(factors[d] >= 1 && factors[d] < 1e9F)) c.reject(fmt::format("a scale of {}", factors[d]));
      axes[d].m = static_cast<std::int64_t>(std::floor(axes[d].scale * static_cast<double>(axes[d].n)));
    }
  }
  resize_axes(c, axes, mode);
}

}  // namespace pando::onnx
