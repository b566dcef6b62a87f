// Convolutions from their definition: every transform makes a new array, and the sums are plain loops in double.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include <poplin/ConvParams.hpp>

namespace reference {

struct Array {
  std::vector<std::size_t> shape;
  std::vector<double> values;

  explicit Array(std::vector<std::size_t> s) : shape(std::move(s)), values(1) {
    for (const std::size_t n : shape) values.resize(values.size() * n);
  }
  Array(std::vector<std::size_t> s, std::vector<double> v) : shape(std::move(s)), values(std::move(v)) {}
  std::size_t at(const std::vector<std::size_t>& index) const {
    std::size_t i = 0;
    for (std::size_t d = 0; d < shape.size(); ++d) i = i * shape[d] + index[d];
    return i;
  }
};

// Calls f with every index of `shape`.
inline void each_index(const std::vector<std::size_t>& shape, const std::function<void(const std::vector<std::size_t>&)>& f) {
  std::vector<std::size_t> index(shape.size(), 0);
  for (const std::size_t n : shape)
    if (n == 0) return;
  for (;;) {
    f(index);
    std::size_t d = shape.size();
    while (d > 0 && ++index[d - 1] == shape[d - 1]) index[--d] = 0;
    if (d == 0) return;
  }
}

// Element i of dimension `dim` of the result is element from(i) of `a`, or 0 where that is negative.
inline Array along(const Array& a, std::size_t dim, std::size_t size, const std::function<std::int64_t(std::int64_t)>& from) {
  Array out(a.shape);
  out.shape[dim] = size;
  out = Array(out.shape);
  each_index(out.shape, [&](std::vector<std::size_t> index) {
    const std::size_t to = out.at(index);
    const std::int64_t i = from(static_cast<std::int64_t>(index[dim]));
    if (i < 0) return;
    index[dim] = static_cast<std::size_t>(i);
    out.values[to] = a.values[a.at(index)];
  });
  return out;
}

inline Array transformed(Array a, const poplin::ConvParams::InputTransform& t, std::size_t first) {
  for (std::size_t d = 0; d < t.dilation.size(); ++d) {
    const std::size_t dim = first + d;
    const std::int64_t lower = t.truncationLower[d], pad = t.paddingLower[d], dilation = t.dilation[d];
    a = along(a, dim, a.shape[dim] - t.truncationLower[d] - t.truncationUpper[d], [&](std::int64_t i) { return i + lower; });
    if (a.shape[dim] > 0)
      a = along(a, dim, (a.shape[dim] - 1) * t.dilation[d] + 1, [&](std::int64_t i) { return i % dilation == 0 ? i / dilation : -1; });
    const std::int64_t size = static_cast<std::int64_t>(a.shape[dim]);
    a = along(a, dim, a.shape[dim] + t.paddingLower[d] + t.paddingUpper[d], [&](std::int64_t i) { return i - pad < size ? i - pad : -1; });
    const std::int64_t last = static_cast<std::int64_t>(a.shape[dim]) - 1;
    if (t.flip[d]) a = along(a, dim, a.shape[dim], [&](std::int64_t i) { return last - i; });
  }
  return a;
}

inline Array transformed(Array a, const poplin::ConvParams::OutputTransform& t, std::size_t first) {
  for (std::size_t d = 0; d < t.stride.size(); ++d) {
    const std::size_t dim = first + d;
    const std::int64_t lower = t.truncationLower[d], stride = t.stride[d], pad = t.paddingLower[d];
    a = along(a, dim, a.shape[dim] - t.truncationLower[d] - t.truncationUpper[d], [&](std::int64_t i) { return i + lower; });
    a = along(a, dim, (a.shape[dim] + t.stride[d] - 1) / t.stride[d], [&](std::int64_t i) { return i * stride; });
    const std::int64_t size = static_cast<std::int64_t>(a.shape[dim]);
    a = along(a, dim, a.shape[dim] + t.paddingLower[d] + t.paddingUpper[d], [&](std::int64_t i) { return i - pad < size ? i - pad : -1; });
  }
  return a;
}

inline std::vector<std::size_t> shape_of(std::vector<std::size_t> channels, const std::vector<std::size_t>& field) {
  channels.insert(channels.end(), field.begin(), field.end());
  return channels;
}
inline std::vector<std::size_t> input_shape(const poplin::ConvParams& p) {
  return shape_of({p.batchSize, p.getNumInputChans()}, p.inputFieldShape);
}
inline std::vector<std::size_t> weights_shape(const poplin::ConvParams& p) {
  return shape_of({p.numConvGroups, p.outputChannelsPerConvGroup, p.inputChannelsPerConvGroup}, p.kernelShape);
}
inline std::vector<std::size_t> output_shape(const poplin::ConvParams& p) {
  return shape_of({p.batchSize, p.getNumOutputChans()}, p.getOutputFieldShape());
}

// Calls f for every product of the convolution: elements of the transformed input, of the transformed kernel, and of the output
// before its transform.
inline void each_product(const poplin::ConvParams& p, const Array& x, const Array& w, const Array& y,
                         const std::function<void(std::size_t, std::size_t, std::size_t)>& f) {
  const std::size_t dims = p.inputFieldShape.size(), ins = p.inputChannelsPerConvGroup, outs = p.outputChannelsPerConvGroup;
  std::vector<std::size_t> sums;  // what runs over: the smaller of the two operands in each dimension
  std::vector<bool> kernel_larger;
  for (std::size_t d = 0; d < dims; ++d) {
    kernel_larger.push_back(w.shape[3 + d] > x.shape[2 + d]);
    sums.push_back(kernel_larger[d] ? x.shape[2 + d] : w.shape[3 + d]);
  }
  each_index(y.shape, [&](const std::vector<std::size_t>& to) {
    const std::size_t group = to[1] / outs;
    for (std::size_t c = 0; c < ins; ++c)
      each_index(sums, [&](const std::vector<std::size_t>& k) {
        std::vector<std::size_t> from = {to[0], group * ins + c}, weight = {group, to[1] % outs, c};
        for (std::size_t d = 0; d < dims; ++d) {
          from.push_back(kernel_larger[d] ? k[d] : k[d] + to[2 + d]);
          weight.push_back(kernel_larger[d] ? k[d] + to[2 + d] : k[d]);
        }
        f(x.at(from), w.at(weight), y.at(to));
      });
  });
}

inline std::vector<std::size_t> untransformed_shape(const poplin::ConvParams& p) {
  std::vector<std::size_t> shape = {p.batchSize, p.getNumOutputChans()};
  for (unsigned d = 0; d < p.getNumFieldDims(); ++d) {
    const std::size_t x = p.getTransformedInputSize(d), w = p.getTransformedKernelSize(d);
    shape.push_back((x > w ? x - w : w - x) + 1);
  }
  return shape;
}

inline Array convolution(const poplin::ConvParams& p, const std::vector<double>& in, const std::vector<double>& weights) {
  const Array x = transformed(Array(input_shape(p), in), p.inputTransform, 2),
              w = transformed(Array(weights_shape(p), weights), p.kernelTransform, 3);
  Array y(untransformed_shape(p));
  each_product(p, x, w, y, [&](std::size_t i, std::size_t k, std::size_t o) { y.values[o] += x.values[i] * w.values[k]; });
  return transformed(y, p.outputTransform, 2);
}

// Where each element of a transformed array comes from, by transforming its own numbers; -1 for the zeros.
template <class Transform>
std::vector<std::int64_t> origins(const std::vector<std::size_t>& shape, const Transform& t, std::size_t first) {
  Array numbers(shape);
  for (std::size_t i = 0; i < numbers.values.size(); ++i) numbers.values[i] = static_cast<double>(i + 1);
  std::vector<std::int64_t> out;
  for (const double v : transformed(numbers, t, first).values) out.push_back(static_cast<std::int64_t>(v) - 1);
  return out;
}

struct Gradients {
  std::vector<double> in, weights;
};

// Of the sum of the products of outputs and `deltas`.
inline Gradients gradients(const poplin::ConvParams& p, const std::vector<double>& in, const std::vector<double>& weights,
                           const std::vector<double>& deltas) {
  const Array x = transformed(Array(input_shape(p), in), p.inputTransform, 2),
              w = transformed(Array(weights_shape(p), weights), p.kernelTransform, 3);
  Array y(untransformed_shape(p));
  const std::vector<std::int64_t> x_from = origins(input_shape(p), p.inputTransform, 2),
                                  w_from = origins(weights_shape(p), p.kernelTransform, 3), y_from = origins(y.shape, p.outputTransform, 2);
  for (std::size_t o = 0; o < y_from.size(); ++o)
    if (y_from[o] >= 0) y.values[static_cast<std::size_t>(y_from[o])] = deltas[o];
  Gradients g{std::vector<double>(in.size()), std::vector<double>(weights.size())};
  each_product(p, x, w, y, [&](std::size_t i, std::size_t k, std::size_t o) {
    if (x_from[i] >= 0) g.in[static_cast<std::size_t>(x_from[i])] += y.values[o] * w.values[k];
    if (w_from[k] >= 0) g.weights[static_cast<std::size_t>(w_from[k])] += y.values[o] * x.values[i];
  });
  return g;
}

}  // namespace reference
