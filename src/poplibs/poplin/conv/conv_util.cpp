#include "poplibs/poplin/conv/terms/line.h"
#include "poplibs/poputil/reject.h"

#include <poplin/ConvUtil.hpp>
#include <poputil/exceptions.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

namespace poplin {

namespace {

using conv::Line;
using conv::line_of;
using conv::Range;
using Bounds = std::pair<unsigned, unsigned>;

constexpr unsigned kNone = ~0U;

Line checked_line(const ConvParams& p, unsigned dim) {
  p.validate();
  if (dim >= p.getNumFieldDims())
    poputil::reject("no-such-dimension", "a convolution of {} field dimensions has no dimension {}", p.getNumFieldDims(), dim);
  return line_of(p, dim);
}

// A range of the caller's, which counts from `before`, as one of the line; empty where the line has nothing.
Range on_line(Bounds bounds, std::int64_t before, std::int64_t size) {
  const Range r{std::max<std::int64_t>(0, bounds.first - before), std::min<std::int64_t>(size, bounds.second - before)};
  return r.empty() ? Range{} : r;
}
Range outputs_on(const ConvParams& p, const Line& line, unsigned dim, Bounds outputs) {
  return on_line(outputs, p.outputTransform.paddingLower[dim], line.out);
}
Range taps_on(const ConvParams& p, const Line& line, unsigned dim, Bounds kernels) {
  return on_line(kernels, p.kernelTransform.truncationLower[dim], line.taps);
}
Range inputs_on(const ConvParams& p, const Line& line, unsigned dim, Bounds inputs) {
  const Range r = on_line(inputs, p.inputTransform.truncationLower[dim], line.in);
  return line.reversed && !r.empty() ? Range{line.in - r.end, line.in - r.begin} : r;
}

Bounds bounds_of(Range r, std::int64_t before) {
  return r.empty() ? Bounds{0, 0} : Bounds{static_cast<unsigned>(r.begin + before), static_cast<unsigned>(r.end + before)};
}

// The least range that holds those of `range` for which `holds`.
Range least(Range range, const std::function<bool(std::int64_t)>& holds) {
  while (!range.empty() && !holds(range.begin)) ++range.begin;
  while (!range.empty() && !holds(range.end - 1)) --range.end;
  return range;
}

// The inverse of a modulo m, which have no common divisor.
std::int64_t inverse(std::int64_t a, std::int64_t m) {
  std::int64_t x = 1, next = 0, rest = m;
  for (a %= m; rest != 0;) {
    const std::int64_t q = a / rest;
    a = std::exchange(rest, a - q * rest);
    x = std::exchange(next, x - q * next);
  }
  return (x % m + m) % m;
}

std::int64_t floor_div(std::int64_t a, std::int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

// The least and the greatest of factor * x.
struct Span {
  Span(std::int64_t factor, Range xs)
      : low(factor * (factor > 0 ? xs.begin : xs.end - 1)), high(factor * (factor > 0 ? xs.end - 1 : xs.begin)) {}
  std::int64_t low, high;
};

// Those of `xs` with low <= factor * x <= high.
Range reaching(Range xs, std::int64_t factor, std::int64_t low, std::int64_t high) {
  if (factor < 0) {
    factor = -factor;
    low = -std::exchange(high, -low);
  }
  return {std::max(xs.begin, -floor_div(-low, factor)), std::min(xs.end, floor_div(high, factor) + 1)};
}

// Is there an x of `xs` and a y of `ys` with factor * x + offset == scale * y? Ranges may be long: no loop goes through them.
bool any_meets(std::int64_t factor, std::int64_t offset, Range xs, std::int64_t scale, Range ys) {
  if (xs.empty() || ys.empty()) return false;
  if (factor < 0) {  // counted from the other end
    offset += factor * (xs.begin + xs.end - 1);
    factor = -factor;
  }
  const std::int64_t low = std::max(xs.begin, -floor_div(offset - scale * ys.begin, factor));  // the least x that reaches ys.begin
  const std::int64_t high = std::min(xs.end - 1, floor_div(scale * (ys.end - 1) - offset, factor));
  const std::int64_t common = std::gcd(factor, scale), period = scale / common;
  if (low > high || offset % common != 0) return false;
  if (high - low + 1 >= period) return true;
  const std::int64_t rest = (-(offset / common) % period + period) % period;
  const auto x = static_cast<std::int64_t>(static_cast<__int128>(rest) * inverse(factor / common, period) % period);
  return low + ((x - low) % period + period) % period <= high;
}

Bounds output_range(const ConvParams& p, const Line& line, unsigned dim, Bounds outputs, Range taps, Range inputs) {
  if (taps.empty() || inputs.empty()) return {0, 0};
  const Span t(line.step, taps), i(line.dilation, inputs);
  const Range near = reaching(outputs_on(p, line, dim, outputs), line.stride, i.low - line.offset - t.high, i.high - line.offset - t.low);
  const Range met =
      least(near, [&](std::int64_t o) { return any_meets(line.step, line.stride * o + line.offset, taps, line.dilation, inputs); });
  return bounds_of(met, p.outputTransform.paddingLower[dim]);
}

// The range of one index; the last index is none of any tensor.
Bounds one(unsigned index) { return {index, index == kNone ? index : index + 1}; }

}  // namespace

unsigned getDilatedSize(unsigned size, unsigned dilation) {
  const std::uint64_t dilated = size == 0 ? 0 : std::uint64_t{size - 1} * dilation + 1;
  if (dilated > ~0U)
    poputil::reject("dilated-size", "getDilatedSize: {} elements dilated by {} are {}, more than an unsigned int holds", size, dilation,
                    dilated);
  return static_cast<unsigned>(dilated);
}

unsigned getInputIndex(unsigned dim, unsigned output, unsigned kernel, const ConvParams& p) {
  const Line line = checked_line(p, dim);
  const Range o = outputs_on(p, line, dim, one(output)), t = taps_on(p, line, dim, one(kernel));
  if (o.empty() || t.empty()) return kNone;
  const std::int64_t i = line.input_of(o.begin, t.begin);
  return i < 0 ? kNone : static_cast<unsigned>(line.reversed ? line.in - 1 - i : i) + p.inputTransform.truncationLower[dim];
}

unsigned getKernelIndex(unsigned dim, unsigned output, unsigned input, const ConvParams& p) {
  const Line line = checked_line(p, dim);
  const Range o = outputs_on(p, line, dim, one(output)), i = inputs_on(p, line, dim, one(input));
  if (o.empty() || i.empty()) return kNone;
  const std::int64_t rest = line.dilation * i.begin - line.stride * o.begin - line.offset, t = rest / line.step;
  return rest % line.step != 0 || t < 0 || t >= line.taps ? kNone : static_cast<unsigned>(t) + p.kernelTransform.truncationLower[dim];
}

Bounds getOutputRangeForKernelIndex(unsigned dim, Bounds outputs, unsigned kernel, const ConvParams& p) {
  return getOutputRangeForKernelRange(dim, outputs, one(kernel), p);
}

Bounds getOutputRangeForInputIndex(unsigned dim, Bounds outputs, unsigned input, const ConvParams& p) {
  return getOutputRangeForInputRange(dim, outputs, one(input), p);
}

Bounds getOutputRangeForKernelRange(unsigned dim, Bounds outputs, Bounds kernels, const ConvParams& p) {
  const Line line = checked_line(p, dim);
  return output_range(p, line, dim, outputs, taps_on(p, line, dim, kernels), {0, line.in});
}

Bounds getOutputRangeForInputRange(unsigned dim, Bounds outputs, Bounds inputs, const ConvParams& p) {
  const Line line = checked_line(p, dim);
  return output_range(p, line, dim, outputs, {0, line.taps}, inputs_on(p, line, dim, inputs));
}

Bounds getInputRange(unsigned dim, Bounds outputs, unsigned kernel, const ConvParams& p) {
  return getInputRange(dim, outputs, one(kernel), p);
}

Bounds getKernelRange(unsigned dim, Bounds outputs, unsigned input, const ConvParams& p) {
  return getKernelRange(dim, outputs, one(input), p);
}

Bounds getInputRange(unsigned dim, Bounds outputs, Bounds kernels, const ConvParams& p) {
  const Line line = checked_line(p, dim);
  const Range o = outputs_on(p, line, dim, outputs), t = taps_on(p, line, dim, kernels);
  if (o.empty() || t.empty()) return {0, 0};
  const Span outs(line.stride, o), taps(line.step, t);
  const Range near = reaching({0, line.in}, line.dilation, outs.low + line.offset + taps.low, outs.high + line.offset + taps.high);
  const Range met = least(near, [&](std::int64_t i) { return any_meets(-line.step, line.dilation * i - line.offset, t, line.stride, o); });
  return bounds_of(line.reversed && !met.empty() ? Range{line.in - met.end, line.in - met.begin} : met,
                   p.inputTransform.truncationLower[dim]);
}

Bounds getKernelRange(unsigned dim, Bounds outputs, Bounds inputs, const ConvParams& p) {
  const Line line = checked_line(p, dim);
  const Range o = outputs_on(p, line, dim, outputs), i = inputs_on(p, line, dim, inputs);
  if (o.empty() || i.empty()) return {0, 0};
  const Span outs(line.stride, o), ins(line.dilation, i);
  const Range near = reaching({0, line.taps}, line.step, ins.low - outs.high - line.offset, ins.high - outs.low - line.offset);
  const Range met = least(near, [&](std::int64_t t) { return any_meets(line.stride, line.offset + line.step * t, o, line.dilation, i); });
  return bounds_of(met, p.kernelTransform.truncationLower[dim]);
}

ConvParams getGradientParams(const ConvParams& p) {
  const ConvParams c = p.canonicalize();
  const std::size_t dims = c.getNumFieldDims();
  ConvParams::InputTransform in(dims), kernel(dims);
  ConvParams::OutputTransform out(dims);
  for (unsigned d = 0; d < dims; ++d) {
    const unsigned x = c.getTransformedInputSize(d), w = c.getTransformedKernelSize(d);
    const unsigned around = w <= x ? w - 1 : 0;  // a full correlation gives back what the forward pass had
    // The gradient of the result goes back through the output transform; canonical parameters drop nothing at the last stride.
    in.truncationLower[d] = c.outputTransform.paddingLower[d];
    in.truncationUpper[d] = c.outputTransform.paddingUpper[d];
    in.dilation[d] = c.outputTransform.stride[d];
    in.paddingLower[d] = c.outputTransform.truncationLower[d] + around;
    in.paddingUpper[d] = c.outputTransform.truncationUpper[d] + around;
    in.flip[d] = c.inputTransform.flip[d];
    // The weights come with the field reversed.
    kernel.truncationLower[d] = c.kernelTransform.truncationUpper[d];
    kernel.truncationUpper[d] = c.kernelTransform.truncationLower[d];
    kernel.dilation[d] = c.kernelTransform.dilation[d];
    kernel.paddingLower[d] = c.kernelTransform.paddingUpper[d];
    kernel.paddingUpper[d] = c.kernelTransform.paddingLower[d];
    kernel.flip[d] = c.kernelTransform.flip[d] ^ c.inputTransform.flip[d] ^ (w > x);
    // And the gradient of the input through the input transform.
    out.truncationLower[d] = c.inputTransform.paddingLower[d];
    out.truncationUpper[d] = c.inputTransform.paddingUpper[d];
    out.stride[d] = c.inputTransform.dilation[d];
    out.paddingLower[d] = c.inputTransform.truncationLower[d];
    out.paddingUpper[d] = c.inputTransform.truncationUpper[d];
  }
  return ConvParams(c.inputType, c.outputType, c.batchSize, c.getOutputFieldShape(), c.kernelShape, c.outputChannelsPerConvGroup,
                    c.inputChannelsPerConvGroup, c.numConvGroups, in, kernel, out);
}

ConvParams getWeightUpdateParams(const ConvParams& p) {
  const ConvParams c = p.canonicalize();
  const std::size_t dims = c.getNumFieldDims();
  ConvParams::InputTransform in = c.inputTransform, kernel(dims);
  ConvParams::OutputTransform out(dims);
  for (unsigned d = 0; d < dims; ++d) {
    const unsigned x = c.getTransformedInputSize(d), w = c.getTransformedKernelSize(d);
    kernel.truncationLower[d] = c.outputTransform.paddingLower[d];
    kernel.truncationUpper[d] = c.outputTransform.paddingUpper[d];
    kernel.dilation[d] = c.outputTransform.stride[d];
    kernel.paddingLower[d] = c.outputTransform.truncationLower[d];
    kernel.paddingUpper[d] = c.outputTransform.truncationUpper[d];
    if (w > x) {
      // Every kernel element k == i + u: a full convolution of the input with the gradient.
      const unsigned around = static_cast<unsigned>(c.getUntransformedOutputSize(d)) - 1;
      in.paddingLower[d] += around;
      in.paddingUpper[d] += around;
      kernel.flip[d] = true;
    }
    if (c.kernelTransform.flip[d]) {
      in.flip[d] = !in.flip[d];
      kernel.flip[d] = !kernel.flip[d];
    }
    out.truncationLower[d] = c.kernelTransform.paddingLower[d];
    out.truncationUpper[d] = c.kernelTransform.paddingUpper[d];
    out.stride[d] = c.kernelTransform.dilation[d];
    out.paddingLower[d] = c.kernelTransform.truncationLower[d];
    out.paddingUpper[d] = c.kernelTransform.truncationUpper[d];
  }
  return ConvParams(c.inputType, c.outputType, c.inputChannelsPerConvGroup, c.inputFieldShape, c.getOutputFieldShape(), c.batchSize,
                    c.outputChannelsPerConvGroup, c.numConvGroups, in, kernel, out);
}

}  // namespace poplin
