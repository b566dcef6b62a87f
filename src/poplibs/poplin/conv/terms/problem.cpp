#include "poplibs/poplin/conv/terms/problem.h"
#include "poplibs/poplin/plan/cost.h"
#include "poplibs/poputil/reject.h"

#include "kernels/conv/conv.h"

#include <popops/Cast.hpp>
#include <poputil/exceptions.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>

namespace poplin::conv {
namespace {

using poplar::Tensor;
using Shape = std::vector<std::size_t>;

// Dimensions [first, ...) of `t` are field dimensions: drops `lower` and all beyond `kept` after it.
Tensor keep(Tensor t, unsigned first, const std::vector<unsigned>& lower, const std::vector<std::int64_t>& kept) {
  for (unsigned d = 0; d < kept.size(); ++d) t = t.slice(lower[d], lower[d] + size(kept[d]), first + d);
  return t;
}

std::vector<std::int64_t> sizes_of(const std::vector<Line>& lines, std::size_t n, std::int64_t Line::* member) {
  std::vector<std::int64_t> sizes;
  for (std::size_t d = 0; d < n; ++d) sizes.push_back(lines[d].*member);
  return sizes;
}

// {batch, groups * channels, field...} as {groups, batch, lines..., channels}.
Tensor channels_last(const Tensor& t, const Problem& p, std::int64_t channels, std::int64_t Line::* member) {
  Shape shape = {size(p.batch), size(p.groups), size(channels)};
  std::vector<unsigned> order = {1, 0};
  for (const Line& line : p.lines) {
    shape.push_back(size(line.*member));
    order.push_back(static_cast<unsigned>(shape.size() - 1));
  }
  order.push_back(2);
  return t.reshape(shape).dimShuffle(order);
}

void expect(const Tensor& t, const poplar::Type& type, const Shape& shape, const char* what, const char* function) {
  if (t.elementType() != type)
    poputil::reject("operand-type", "{}: {} of type {}, expected {}", function, what, t.elementType().toString(), type.toString());
  if (t.shape() != shape)
    poputil::reject("operand-shape", "{}: {} of shape {{{}}}, expected {{{}}}", function, what, fmt::join(t.shape(), ","),
                    fmt::join(shape, ","));
}

Shape with_field(Shape shape, const Shape& field) {
  shape.insert(shape.end(), field.begin(), field.end());
  return shape;
}

}  // namespace

Problem problem_of(const ConvParams& params, bool flipped) {
  params.validate();
  if (params.getNumFieldDims() > kConvDims)
    poputil::reject("field-dimensions", "convolution: {} field dimensions, expected at most {}", params.getNumFieldDims(),
                    static_cast<int>(kConvDims));
  Problem p;
  p.in_type = plan::element_type_of(params.inputType);
  p.out_type = plan::element_type_of(params.outputType);
  p.groups = static_cast<std::int64_t>(params.numConvGroups);
  p.batch = static_cast<std::int64_t>(params.batchSize);
  p.in_channels = static_cast<std::int64_t>(params.inputChannelsPerConvGroup);
  p.out_channels = static_cast<std::int64_t>(params.outputChannelsPerConvGroup);
  p.lines = lines_of(params);
  if (flipped)
    for (Line& line : p.lines) {
      line.offset += line.step * (line.taps - 1);
      line.step = -line.step;
    }
  if (p.lines.empty()) p.lines.emplace_back();
  return p;
}

Tensor input_view(const Tensor& in, const ConvParams& params, const Problem& p) {
  const std::size_t dims = params.getNumFieldDims();
  Tensor t = keep(in, 2, params.inputTransform.truncationLower, sizes_of(p.lines, dims, &Line::in));
  for (unsigned d = 0; d < dims; ++d)
    if (p.lines[d].reversed) t = t.reverse(2 + d);
  return channels_last(t, p, p.in_channels, &Line::in);
}

Tensor weights_view(const Tensor& weights, const ConvParams& params, const Problem& p, bool transposed) {
  const std::size_t dims = params.getNumFieldDims();
  const auto& lower = transposed ? params.kernelTransform.truncationUpper : params.kernelTransform.truncationLower;
  const Tensor t = keep(weights, 3, lower, sizes_of(p.lines, dims, &Line::taps));
  Shape shape = {size(p.groups), size(transposed ? p.in_channels : p.out_channels), size(transposed ? p.out_channels : p.in_channels)};
  std::vector<unsigned> order = {0};
  for (const Line& line : p.lines) {
    shape.push_back(size(line.taps));
    order.push_back(static_cast<unsigned>(shape.size() - 1));
  }
  order.push_back(transposed ? 1 : 2);
  order.push_back(transposed ? 2 : 1);
  return t.reshape(shape).dimShuffle(order);
}

Tensor output_view(const Tensor& out, const ConvParams& params, const Problem& p) {
  const Tensor t = keep(out, 2, params.outputTransform.paddingLower, sizes_of(p.lines, params.getNumFieldDims(), &Line::out));
  return channels_last(t, p, p.out_channels, &Line::out);
}

void expect_input(const Tensor& in, const ConvParams& params, const char* function) {
  expect(in, params.inputType, with_field({params.batchSize, params.getNumInputChans()}, params.inputFieldShape), "input", function);
}

void expect_weights(const Tensor& weights, const ConvParams& params, bool transposed, const char* function) {
  const std::size_t out = params.outputChannelsPerConvGroup, in = params.inputChannelsPerConvGroup;
  const Shape channels = transposed ? Shape{params.numConvGroups, in, out} : Shape{params.numConvGroups, out, in};
  expect(weights, params.inputType, with_field(channels, params.kernelShape), "weights", function);
}

void expect_output(const Tensor& out, const ConvParams& params, const char* function) {
  expect(out, params.outputType, with_field({params.batchSize, params.getNumOutputChans()}, params.getOutputFieldShape()), "output",
         function);
}

Tensor expect_deltas(poplar::Graph& graph, const Tensor& deltas, const ConvParams& params, poplar::program::Sequence& prog,
                     const poplar::DebugContext& context, const char* function) {
  ConvParams own = params;
  if (deltas.elementType() == params.inputType) own.outputType = params.inputType;
  expect_output(deltas, own, function);
  if (deltas.elementType() == params.inputType) return deltas;
  return popops::cast(graph, deltas, params.inputType, prog, poplar::DebugContext(context, "deltas"));
}

}  // namespace poplin::conv
