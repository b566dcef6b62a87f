#include "onnx/rules/signals.h"

#include "onnx/importer.h"

#include <cmath>
#include <numbers>

namespace pando::onnx {

void cosine_window(Context& c, const std::vector<double>& coefficients) {
  const std::int64_t size = c.integer(0);
  if (size < 1 || size > kMostConstant) c.reject(fmt::format("a window of {} elements; 1 to {} are possible", size, kMostConstant));
  const DType dtype = c.dtype_attribute("output_datatype", DType::float32);
  const bool periodic = c.flag("periodic", true);
  const auto n = static_cast<double>(periodic ? size : size - 1);
  HostTensor all(dtype, {size});
  for (std::int64_t i = 0; i < size; ++i) {
    double v = 0;
    for (std::size_t k = 0; k < coefficients.size(); ++k) {
      v += coefficients[k] * (n == 0 ? 1 : std::cos(2 * std::numbers::pi * static_cast<double>(k) * static_cast<double>(i) / n));
    }
    all.set(i, v);
  }
  c.give_known(0, all);
}

void fourier(Context& c) {
  const Shape in = c.shape_of(0);
  if (in.size() < 2 || (in.back() != 1 && in.back() != 2))
    c.reject(fmt::format("a signal of shape {}; real numbers have a last dimension of 1, complex ones of 2", ir::to_string(in)));
  const bool inverse = c.flag("inverse", false), onesided = c.flag("onesided", false);
  std::int64_t axis = c.has(2) ? c.axis_in(c.integer(2), in.size()) : c.axis_in(c.integer("axis", c.opset >= 20 ? -2 : 1), in.size());
  const auto a = static_cast<std::size_t>(axis);
  if (a + 1 == in.size()) c.reject("the last dimension is that of real and imaginary parts");
  const std::int64_t n = c.has(1) ? c.integer(1) : in[a];
  if (n < 1 || n > 4096) c.reject(fmt::format("a transform of {} elements; 1 to 4096 are possible", n));
  if (onesided && inverse) c.reject("'onesided' of an inverse transform");
  ValueId x = c.operand(0);
  Ints pads(2 * in.size(), 0);
  pads[in.size() + a] = n - in[a];
  x = c.composition("pad", {x}, {{"pads", pads}});
  // (others ..., n): real and imaginary parts, times matrices of cosines and sines.
  const std::int64_t outs = onesided ? n / 2 + 1 : n;
  std::vector<double> cosines, sines;
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t k = 0; k < outs; ++k) {
      const double angle = 2 * std::numbers::pi * static_cast<double>((i * k) % n) / static_cast<double>(n) * (inverse ? 1 : -1);
      cosines.push_back(std::cos(angle) / (inverse ? static_cast<double>(n) : 1));
      sines.push_back(std::sin(angle) / (inverse ? static_cast<double>(n) : 1));
    }
  }
  const DType dtype = c.dtype(x);
  const ValueId cosine = c.constant(HostTensor::of_floats(dtype, {n, outs}, cosines)),
                sine = c.constant(HostTensor::of_floats(dtype, {n, outs}, sines));
  Ints order;
  for (std::int64_t d = 0; d + 1 < static_cast<std::int64_t>(in.size()); ++d) {
    if (d != axis) order.push_back(d);
  }
  order.push_back(axis);
  Ints back(order.size());
  for (std::size_t d = 0; d < order.size(); ++d) back[static_cast<std::size_t>(order[d])] = static_cast<std::int64_t>(d);
  const std::int64_t last = static_cast<std::int64_t>(in.size()) - 1;
  const auto part = [&](std::int64_t i) {
    Shape s = c.shape(x);
    s.pop_back();
    return c.transpose(c.reshape(c.slice(x, last, i, 1), s), order);
  };
  const auto times = [&](ValueId v, ValueId matrix) {
    Shape s = c.shape(v);
    const ValueId rows = c.reshape(v, {ir::elements_of(s) / n, n});
    s.back() = outs;
    return c.transpose(c.reshape(c.op("matmul", {rows, matrix}), s), back);
  };
  ValueId real = times(part(0), cosine), imaginary = times(part(0), sine);
  if (in.back() == 2) {
    real = c.op("sub", {real, times(part(1), sine)});
    imaginary = c.op("add", {imaginary, times(part(1), cosine)});
  }
  Shape apart = c.shape(real);
  apart.push_back(1);
  c.give(c.concat({c.reshape(real, apart), c.reshape(imaginary, apart)}, last));
}

}  // namespace pando::onnx
