#include "ir/shared/windows/interpolation.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace pando::ir {

namespace {

struct Axis {
  std::int64_t in = 1, out = 1;
  double scale = 1;
};

// One result position: which elements it mixes.
using Taps = std::vector<std::pair<std::int64_t, double>>;

template <std::size_t n>
void check_choice(const Inference& in, std::string_view attribute, const std::array<std::string_view, n>& choices) {
  const std::string& text = in.attributes().text(attribute);
  if (text.empty() || std::find(choices.begin(), choices.end(), text) != choices.end()) return;
  in.reject("interpolate-mode", "{} is '{}'", attribute, text);
}

std::string text_or(const Attributes& a, std::string_view name, const char* otherwise) {
  return a.text(name).empty() ? otherwise : a.text(name);
}

double position(const Axis& axis, std::int64_t x, const std::string& mode) {
  const auto at = static_cast<double>(x);
  if (mode == "asymmetric") return at / axis.scale;
  if (mode == "half_pixel") return (at + 0.5) / axis.scale - 0.5;
  if (mode == "pytorch_half_pixel") return axis.out > 1 ? (at + 0.5) / axis.scale - 0.5 : 0;
  if (axis.out > 1) return at * static_cast<double>(axis.in - 1) / static_cast<double>(axis.out - 1);
  // The crop is the whole: its middle.
  return mode == "tf_crop_and_resize" ? 0.5 * static_cast<double>(axis.in - 1) : 0;
}

double rounded(double x, const std::string& mode) {
  if (mode == "floor") return std::floor(x);
  if (mode == "ceil") return std::ceil(x);
  return mode == "round_prefer_ceil" ? std::floor(x + 0.5) : std::ceil(x - 0.5);
}

// The cubic kernel with coefficient -0.75.
double cubic(double d) {
  constexpr double a = -0.75;
  d = std::abs(d);
  if (d <= 1) return ((a + 2) * d - (a + 3)) * d * d + 1;
  return d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a : 0;
}

// Each element once; what counts for nothing is not looked at.
Taps merged(const Taps& all) {
  Taps taps;
  for (const auto& [i, weight] : all) {
    const auto known = std::find_if(taps.begin(), taps.end(), [&, at = i](const auto& t) { return t.first == at; });
    if (known == taps.end())
      taps.emplace_back(i, weight);
    else
      known->second += weight;
  }
  std::erase_if(taps, [](const auto& t) { return t.second == 0; });
  return taps;
}

Taps taps_of(const Axis& axis, std::int64_t x, const Attributes& a) {
  const double at = position(axis, x, text_or(a, "coordinate_transformation_mode", "half_pixel"));
  const std::string mode = text_or(a, "mode", "nearest");
  const auto inside = [&](double i) { return std::clamp<std::int64_t>(static_cast<std::int64_t>(i), 0, axis.in - 1); };
  if (mode == "nearest") return {{inside(rounded(at, text_or(a, "nearest_mode", "round_prefer_floor"))), 1.0}};
  const double left = std::floor(at), part = at - left;
  if (mode == "linear") return merged({{inside(left), 1 - part}, {inside(left + 1), part}});
  Taps taps;
  for (int k = -1; k <= 2; ++k) taps.emplace_back(inside(left + k), cubic(part - k));
  return merged(taps);
}

// One dimension of (outer, in, inner) to (outer, out, inner), or back.
std::vector<double> along(const std::vector<double>& x, const std::vector<Taps>& taps, std::int64_t in, std::int64_t inner,
                          bool transposed) {
  const auto out = static_cast<std::int64_t>(taps.size());
  const std::int64_t from = transposed ? out : in, to = transposed ? in : out;
  const std::int64_t outer = static_cast<std::int64_t>(x.size()) / (from * inner);
  std::vector<double> y(static_cast<std::size_t>(outer * to * inner));
  for (std::int64_t o = 0; o < outer; ++o) {
    for (std::int64_t r = 0; r < out; ++r) {
      for (const auto& [i, weight] : taps[static_cast<std::size_t>(r)]) {
        const std::int64_t source = transposed ? r : i, target = transposed ? i : r;
        for (std::int64_t e = 0; e < inner; ++e) {
          y[static_cast<std::size_t>((o * to + target) * inner + e)] +=
              weight * x[static_cast<std::size_t>((o * from + source) * inner + e)];
        }
      }
    }
  }
  return y;
}

}  // namespace

std::int64_t resized(std::int64_t size, double scale) { return static_cast<std::int64_t>(std::floor(static_cast<double>(size) * scale)); }

Shape interpolated_shape(const Inference& in, const Shape& shape) {
  using namespace std::string_view_literals;
  check_choice(in, "mode", std::array{"nearest"sv, "linear"sv, "cubic"sv});
  check_choice(in, "nearest_mode", std::array{"round_prefer_floor"sv, "round_prefer_ceil"sv, "floor"sv, "ceil"sv});
  check_choice(in, "coordinate_transformation_mode",
               std::array{"half_pixel"sv, "pytorch_half_pixel"sv, "align_corners"sv, "asymmetric"sv, "tf_crop_and_resize"sv});
  const Floats& scale = in.attributes().floats("scale_factor");
  if (scale.size() != shape.size()) in.reject("interpolate-scale", "{} scale factors for data of shape {}", scale.size(), to_string(shape));
  Shape out;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (!(scale[d] > 0)) in.reject("interpolate-scale", "a scale factor of {}", scale[d]);
    out.push_back(resized(shape[d], scale[d]));
    if (out.back() < 1) in.reject("interpolate-scale", "dimension {} of {} elements, times {}, has none", d, shape[d], scale[d]);
  }
  return out;
}

HostTensor interpolated(const Evaluation& e, const Shape& from, const Shape& to, bool transposed) {
  const HostTensor& t = e.operand(0);
  std::vector<double> x(static_cast<std::size_t>(t.elements()));
  for (std::int64_t i = 0; i < t.elements(); ++i) x[static_cast<std::size_t>(i)] = t.number(i);
  // What follows the dimension: those behind it are done already.
  std::int64_t inner = 1;
  for (std::size_t d = from.size(); d-- > 0;) {
    const Axis axis{from[d], to[d], e.attributes().floats("scale_factor")[d]};
    if (axis.in != axis.out || axis.scale != 1) {
      std::vector<Taps> taps;
      for (std::int64_t i = 0; i < axis.out; ++i) taps.push_back(taps_of(axis, i, e.attributes()));
      x = along(x, taps, axis.in, inner, transposed);
    }
    inner *= transposed ? axis.in : axis.out;
  }
  return HostTensor::of_floats(e.result_type().dtype, e.result_type().shape, x);
}

std::vector<double> interpolation_matrix(std::int64_t in, std::int64_t out, double scale, const Attributes& attributes) {
  std::vector<double> matrix(static_cast<std::size_t>(in * out));
  for (std::int64_t r = 0; r < out; ++r) {
    for (const auto& [i, weight] : taps_of({in, out, scale}, r, attributes)) matrix[static_cast<std::size_t>(r * in + i)] += weight;
  }
  return matrix;
}

std::vector<Sample> interpolation_samples() {
  std::vector<Sample> all;
  const auto add = [&](Shape shape, Floats scale, const char* mode, const char* coordinates = "half_pixel") {
    Sample s;
    s.operands = {{DType::float32, std::move(shape), -2, 2, {}}};
    s.attributes = {
        {"scale_factor", std::move(scale)}, {"mode", std::string(mode)}, {"coordinate_transformation_mode", std::string(coordinates)}};
    all.push_back(s);
  };
  add({1, 2, 3, 4}, {1, 1, 2, 3}, "nearest");
  add({2, 5, 6}, {1, 1, 0.5}, "nearest", "asymmetric");
  add({1, 2, 4, 3}, {1, 1, 2, 1.5}, "linear");
  add({1, 1, 3, 3}, {1, 1, 2, 2}, "linear", "align_corners");
  add({1, 1, 5, 4}, {1, 1, 2, 2}, "cubic");
  // An infinity stays where it counts.
  add({1, 1, 2, 6}, {1, 1, 1, 2}, "linear");
  all.back().operands[0].values = {1, INFINITY, 2, 3, 4, NAN, -1, 2, 3, -INFINITY, 1, 2};
  all.back().smooth = false;
  // Each element counts for many; one of few that is none spoils only those.
  add({1, 1, 6}, {1, 1, 30}, "linear");
  all.back().operands[0].values = {1, 2, 3, 4, NAN, 6};
  all.back().smooth = false;
  return all;
}

}  // namespace pando::ir
