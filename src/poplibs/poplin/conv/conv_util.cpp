#include "poplibs/poplin/conv/line.h"

#include <poplin/ConvUtil.hpp>
#include <poputil/exceptions.hpp>

#include <functional>

namespace poplin {

namespace {

using conv::Line;
using conv::line_of;
using Bounds = std::pair<unsigned, unsigned>;

constexpr unsigned kNone = ~0U;

// An element of the tensor as the caller has it, and of the line.
std::int64_t line_output(const ConvParams& p, const Line& line, unsigned dim, unsigned index) {
  const std::int64_t o = static_cast<std::int64_t>(index) - p.outputTransform.paddingLower[dim];
  return o >= 0 && o < line.out ? o : -1;
}
std::int64_t line_tap(const ConvParams& p, const Line& line, unsigned dim, unsigned index) {
  const std::int64_t t = static_cast<std::int64_t>(index) - p.kernelTransform.truncationLower[dim];
  return t >= 0 && t < line.taps ? t : -1;
}
unsigned input_index(const ConvParams& p, const Line& line, unsigned dim, std::int64_t i) {
  return static_cast<unsigned>(line.reversed ? line.in - 1 - i : i) + p.inputTransform.truncationLower[dim];
}

// The least range that holds those of [range) for which `holds`.
Bounds least(Bounds range, const std::function<bool(unsigned)>& holds) {
  while (range.first < range.second && !holds(range.first)) ++range.first;
  while (range.first < range.second && !holds(range.second - 1)) --range.second;
  return range.first < range.second ? range : Bounds{0, 0};
}

bool any(Bounds range, const std::function<bool(unsigned)>& holds) {
  for (unsigned i = range.first; i < range.second; ++i)
    if (holds(i)) return true;
  return false;
}

Bounds all_inputs(unsigned dim, const ConvParams& p) { return {0, static_cast<unsigned>(p.inputFieldShape[dim])}; }

}  // namespace

unsigned getDilatedSize(unsigned size, unsigned dilation) { return size == 0 ? 0 : (size - 1) * dilation + 1; }

unsigned getInputIndex(unsigned dim, unsigned output, unsigned kernel, const ConvParams& p) {
  const Line line = line_of(p, dim);
  const std::int64_t o = line_output(p, line, dim, output), t = line_tap(p, line, dim, kernel);
  if (o < 0 || t < 0) return kNone;
  const std::int64_t i = line.input_of(o, t);
  return i < 0 ? kNone : input_index(p, line, dim, i);
}

unsigned getKernelIndex(unsigned dim, unsigned output, unsigned input, const ConvParams& p) {
  for (unsigned k = 0; k < p.kernelShape[dim]; ++k)
    if (getInputIndex(dim, output, k, p) == input) return k;
  return kNone;
}

Bounds getOutputRangeForKernelIndex(unsigned dim, Bounds outputs, unsigned kernel, const ConvParams& p) {
  return getOutputRangeForKernelRange(dim, outputs, {kernel, kernel + 1}, p);
}

Bounds getOutputRangeForInputIndex(unsigned dim, Bounds outputs, unsigned input, const ConvParams& p) {
  return getOutputRangeForInputRange(dim, outputs, {input, input + 1}, p);
}

Bounds getOutputRangeForKernelRange(unsigned dim, Bounds outputs, Bounds kernels, const ConvParams& p) {
  return least(outputs, [&](unsigned o) { return any(kernels, [&](unsigned k) { return getInputIndex(dim, o, k, p) != kNone; }); });
}

Bounds getOutputRangeForInputRange(unsigned dim, Bounds outputs, Bounds inputs, const ConvParams& p) {
  const Bounds kernels{0, static_cast<unsigned>(p.kernelShape[dim])};
  return least(outputs, [&](unsigned o) {
    return any(kernels, [&](unsigned k) {
      const unsigned i = getInputIndex(dim, o, k, p);
      return i != kNone && i >= inputs.first && i < inputs.second;
    });
  });
}

Bounds getInputRange(unsigned dim, Bounds outputs, unsigned kernel, const ConvParams& p) {
  return getInputRange(dim, outputs, Bounds{kernel, kernel + 1}, p);
}

Bounds getKernelRange(unsigned dim, Bounds outputs, unsigned input, const ConvParams& p) {
  return getKernelRange(dim, outputs, Bounds{input, input + 1}, p);
}

Bounds getInputRange(unsigned dim, Bounds outputs, Bounds kernels, const ConvParams& p) {
  std::vector<bool> met(p.inputFieldShape[dim], false);
  for (unsigned o = outputs.first; o < outputs.second; ++o)
    for (unsigned k = kernels.first; k < kernels.second; ++k) {
      const unsigned i = getInputIndex(dim, o, k, p);
      if (i != kNone) met[i] = true;
    }
  return least(all_inputs(dim, p), [&](unsigned i) { return met[i]; });
}

Bounds getKernelRange(unsigned dim, Bounds outputs, Bounds inputs, const ConvParams& p) {
  return least({0, static_cast<unsigned>(p.kernelShape[dim])}, [&](unsigned k) {
    return any(outputs, [&](unsigned o) {
      const unsigned i = getInputIndex(dim, o, k, p);
      return i != kNone && i >= inputs.first && i < inputs.second;
    });
  });
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
