// Helpers of rows that go element by element, or that move elements without looking at them.
#pragma once

#include "ir/rows/define.h"

#include <algorithm>
#include <cstdint>
#include <span>

namespace pando::ir {

// f for floats (in double, rounded once), g for integers of any width.
template <class F, class G>
void map_numbers(Evaluation& e, F f, G g) {
  HostTensor out = e.fresh();
  const HostTensor& x = e.operand(0);
  const bool integers = !is_floating(x.dtype());
  for (std::int64_t i = 0; i < out.elements(); ++i) {
    if (integers) {
      out.set_integer(i, g(x.integer(i)));
    } else {
      out.set(i, f(x.number(i)));
    }
  }
  e.result(std::move(out));
}

// Arithmetic of integers that wraps around.
template <class F>
std::int64_t wrapping(F f, std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(f(static_cast<std::uint64_t>(a), static_cast<std::uint64_t>(b)));
}

// Result i is element source(i) of x, bit by bit; a negative source leaves what is there. Both have one element type.
template <class F>
void move_elements(HostTensor& out, const HostTensor& x, F source) {
  const std::size_t size = size_of(x.dtype());
  std::byte* to = out.writable();
  const std::int64_t n = out.elements();
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t from = source(i);
    if (from >= 0) std::copy_n(x.data() + static_cast<std::size_t>(from) * size, size, to + static_cast<std::size_t>(i) * size);
  }
}

// How far apart neighbours along each axis lie in row-major order.
inline Shape strides_of(const Shape& shape) {
  Shape strides(shape.size());
  std::int64_t stride = 1;
  for (std::size_t d = shape.size(); d-- > 0;) {
    strides[d] = stride;
    stride *= shape[d];
  }
  return strides;
}

// Row-major position to coordinates.
inline Shape coordinates_of(const Shape& shape, std::int64_t i) {
  Shape at(shape.size());
  for (std::size_t d = shape.size(); d-- > 0;) {
    at[d] = i % shape[d];
    i /= shape[d];
  }
  return at;
}

inline std::int64_t position_of(const Shape& shape, const Shape& at) {
  std::int64_t i = 0;
  for (std::size_t d = 0; d < shape.size(); ++d) i = i * shape[d] + at[d];
  return i;
}

// A shape seen along one axis: `outer` blocks of `extent` slices of `inner` elements.
struct AxisView {
  std::int64_t outer = 1, extent = 1, inner = 1;

  AxisView(const Shape& shape, std::int64_t axis) {
    const auto a = static_cast<std::size_t>(axis);
    for (std::size_t d = 0; d < shape.size(); ++d) (d < a ? outer : d == a ? extent : inner) *= shape[d];
  }
  std::int64_t position(std::int64_t o, std::int64_t at, std::int64_t i) const { return (o * extent + at) * inner + i; }
};

// The axis in an attribute, counted from the front; rejected (popart) where it is none of the operand's.
inline std::int64_t axis_of(const Inference& in, std::string_view name = "axis", std::size_t operand = 0) {
  const std::int64_t axis = in.attributes().integer(name);
  if (in.axis(axis, operand) != axis) in.reject("axis-negative", "{} is {}; axes are counted from the front here", name, axis);
  return axis;
}

inline Ints axes_of(const Inference& in, std::string_view name = "axis", std::size_t operand = 0) {
  const Ints& axes = in.attributes().ints(name);
  if (in.axes(axes, operand) != axes) in.reject("axis-negative", "{} has a negative entry; axes are counted from the front here", name);
  return axes;
}

// Zeros of a type, in the gradient graph.
inline ValueId zeros_like(Gradient& g, const Type& type) {
  return g.op("init", {}, {{"shape", Ints(type.shape)}, {"dtype", type.dtype}, {"init_type", std::string("zero")}});
}

// A value and a gradient of its type.
void infer_nonlinearity_grad(Inference& in);

void infer_bool(Inference& in);

// Of rows that move data: the bytes of the results, no operations.
Cost movement_cost(const Inference& in);
// Of views that keep the order of the elements.
inline Cost no_cost(const Inference&) { return {}; }

// The first operand has kinks: smooth on either side of them.
std::vector<Sample> kinked_unary_samples();
// Numbers, infinities, NaN.
std::vector<Sample> special_samples();
// bool operands, broadcasting.
std::vector<Sample> bool_binary_samples();
// One of each of the types: small numbers on the left, smaller ones on the right.
std::vector<Sample> integer_binary_samples(DTypeSet types);
// binary_samples and bools.
std::vector<Sample> comparison_samples();
// y or x, and the gradient dy.
std::vector<Sample> nonlinearity_grad_samples();

}  // namespace pando::ir
