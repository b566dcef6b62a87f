#include "poplibs/poplin/conv/cpu_rows.h"

#include <pando/cpu_device.hpp>

#include <popops/Cast.hpp>
#include <popops/codelets.hpp>

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

namespace poplin::conv {
namespace {

using poplar::Graph;
using poplar::Tensor;
using poplar::program::Copy;
using poplar::program::Sequence;

// Parts of a convolution: more than a host's threads, so that they share them evenly. Fewer than kFewParts are left to plans, which cut
// channels, too.
constexpr std::int64_t kParts = 16, kFewParts = 8;
// Products of numbers in a part, at least.
constexpr std::int64_t kLeastWork = 1 << 16;
// Results for which turning the weights pays off.
constexpr std::int64_t kLeastResults = 256;
// Pairs of channels whose weights a vertex turns, at least.
constexpr std::size_t kLeastPairs = 1024;
// Channels of an input that are worth lying together.
constexpr std::size_t kTogether = 16;

// Rows, then columns.
std::array<Line, 2> axes_of(const Problem& p) {
  if (p.lines.size() == 2) return {p.lines[0], p.lines[1]};
  return {Line(), p.lines[0]};
}

// Whether kernels/conv/conv_winograd.h does it, and the weights are turned for enough of results.
bool is_winograd(const Problem& p, const Options& options) {
  if (!options.winograd || p.lines.size() != 2) return false;
  const auto fits = [](std::int64_t channels) { return channels % 16 == 0 && channels <= 4096; };
  const auto three = [](const Line& l) { return l.taps == 3 && l.stride == 1 && (l.step == 1 || l.step == -1) && l.out % 2 == 0; };
  return fits(p.in_channels) && fits(p.out_channels) && three(p.lines[0]) && three(p.lines[1]) &&
         p.batch * p.lines[0].out * p.lines[1].out >= kLeastResults;
}

std::int64_t rows_of_part(const Problem& p, bool winograd) {
  const auto [rows, columns] = axes_of(p);
  const std::int64_t of_row = columns.out * p.out_channels * p.in_channels * p.taps();
  const std::int64_t parts = (kParts + p.batch - 1) / p.batch, least = (kLeastWork + of_row - 1) / of_row;
  const std::int64_t part = std::min(rows.out, std::max(least, (rows.out + parts - 1) / parts));
  return winograd ? (part + 1) / 2 * 2 : part;
}

// An operand's elements in one piece of memory, with the strides of the view's last three dimensions.
struct Image {
  Tensor flat;  // {batch, elements of an image}
  std::array<std::size_t, 3> strides;
};

Tensor copy_of(Graph& graph, const Tensor& t, Sequence& prog, const poplar::DebugContext& context) {
  const Tensor copy = graph.addVariable(t.elementType(), t.shape(), context);
  graph.setTileMapping(copy, 0);
  prog.add(Copy(t, copy, false, context));
  return copy;
}

// {batch, rows, columns, channels}
Image image_of(Graph& graph, const Tensor& t, Sequence& prog, const poplar::DebugContext& context) {
  const std::size_t rows = t.dim(1), columns = t.dim(2), channels = t.dim(3);
  const Tensor channels_first = t.dimShuffle({0, 3, 1, 2});
  if (!t.isContiguous() && channels_first.isContiguous()) return {channels_first.flatten(1, 4), {columns, 1, rows * columns}};
  const Tensor whole = t.isContiguous() ? t : copy_of(graph, t, prog, context);
  return {whole.flatten(1, 4), {columns * channels, channels, 1}};
}

// {9, pairs of channels} as {16, pairs of channels}
Tensor turned_weights(Graph& graph, const Tensor& kernel, Sequence& prog, const poplar::DebugContext& context) {
  const std::size_t pairs = kernel.dim(1), part = std::max<std::size_t>(kLeastPairs, (pairs + size(kParts) - 1) / size(kParts));
  const Tensor out = graph.addVariable(poplar::FLOAT, {16, pairs}, {context, "turnedWeights"});
  graph.setTileMapping(out, 0);
  const poplar::ComputeSet set = graph.addComputeSet({context, "TurnWeights"});
  for (std::size_t begin = 0; begin < pairs; begin += part) {
    const poplar::VertexRef v = graph.addVertex(set, "poplin::ConvWinogradWeights");
    graph.setTileMapping(v, 0);
    graph.connect(v["in"], kernel.flatten());
    std::vector<Tensor> rows;
    for (std::size_t k = 0; k < 16; ++k) rows.push_back(out[k].slice(begin, std::min(pairs, begin + part)));
    graph.connect(v["out"], rows);
    graph.setInitialValue(v["begin"], static_cast<unsigned>(begin));
  }
  prog.add(poplar::program::Execute(set, context));
  return out;
}

std::vector<int> shape_of(const Problem& p, const std::array<Line, 2>& axes, std::int64_t begin, std::int64_t end, const Image& image) {
  std::vector<int> shape;
  for (const Line& l : axes)
    for (const std::int64_t n : {l.in, l.taps, l.stride, l.offset, l.step}) shape.push_back(static_cast<int>(n));
  for (const std::int64_t n : {p.in_channels, p.out_channels, begin, end, axes[1].out}) shape.push_back(static_cast<int>(n));
  for (const std::size_t n : image.strides) shape.push_back(static_cast<int>(n));
  return shape;
}

// The epilogue's fields, of the results' elements [begin, end). Without an epilogue: all empty.
void set_finish(Graph& graph, const poplar::VertexRef& v, const FinishViews* finish, std::size_t begin, std::size_t end,
                std::size_t channels) {
  std::vector<Tensor> operands, more;
  std::vector<unsigned> strides, code;
  if (finish != nullptr) {
    code = finish->finish->words;
    for (std::size_t i = 0; i < finish->matrices.size(); ++i) {
      const internal::FinishOperand& o = finish->finish->operands[i];
      operands.push_back(o.is_matrix ? finish->matrices[i].flatten().slice(begin, end) : o.tensor);
      strides.push_back(o.is_matrix ? static_cast<unsigned>(channels) : o.stride);
    }
    for (const Tensor& t : finish->more) more.push_back(t.flatten().slice(begin, end));
  }
  graph.connect(v["operands"], operands);
  graph.connect(v["more"], more);
  for (const auto& [field, values] : {std::pair("strides", strides), std::pair("code", code)}) {
    graph.setFieldSize(v[field], values.size());
    if (!values.empty()) graph.setInitialValue(v[field], values);
  }
}

}  // namespace

bool can_finish_in_rows(const FinishViews& finish) {
  const auto lies = [](const Tensor& t) { return !t.valid() || t.isContiguous(); };
  return std::all_of(finish.matrices.begin(), finish.matrices.end(), lies) && std::all_of(finish.more.begin(), finish.more.end(), lies);
}

bool is_in_rows(const Problem& p, const Options& options, const poplar::Target& target) {
  if (!pando::reads_in_place(target) || !options.in_rows || options.constraints != PlanConstraints()) return false;
  if (p.in_type != pando::ElementType::float_ && p.in_type != pando::ElementType::half) return false;
  if (p.in_type != p.out_type || options.half_partials || p.groups != 1 || p.lines.size() > 2) return false;
  if (p.batch == 0 || p.in_channels == 0 || p.out_channels == 0) return false;
  for (const Line& l : p.lines)
    if (l.in <= 0 || l.out <= 0 || l.taps <= 0 || l.dilation != 1 || l.stride < 1 || l.step == 0) return false;
  const auto [rows, columns] = axes_of(p);
  const std::int64_t part = rows_of_part(p, is_winograd(p, options));
  return p.batch * ((rows.out + part - 1) / part) >= kFewParts;
}

Tensor make_image(Graph& graph, const ConvParams& params, const poplar::DebugContext& context) {
  std::vector<std::size_t> shape{params.batchSize};
  const auto& field = params.inputFieldShape;
  const bool first = params.getNumInputChans() < kTogether;
  if (first) shape.push_back(params.getNumInputChans());
  shape.insert(shape.end(), field.begin(), field.end());
  if (!first) shape.push_back(params.getNumInputChans());
  const Tensor t = graph.addVariable(params.inputType, shape, context);
  graph.setTileMapping(t, 0);
  return first ? t : t.dimRoll(static_cast<unsigned>(t.rank() - 1), 1);
}

void convolve_in_rows(Graph& graph, const Problem& p, const Options& options, const Tensor& in, const Tensor& weights, const Tensor& out,
                      poplar::ComputeSet set, Sequence& before, Sequence& after, const poplar::DebugContext& context,
                      const FinishViews* finish) {
  std::array<Line, 2> axes = axes_of(p);
  const std::size_t batch = size(p.batch), in_channels = size(p.in_channels), out_channels = size(p.out_channels);
  const Image image = image_of(graph, in.reshape({batch, size(axes[0].in), size(axes[1].in), in_channels}), before, {context, "input"});
  // Elements of the kernel in the order of their inputs.
  Tensor kernel = weights.reshape({size(axes[0].taps), size(axes[1].taps), in_channels, out_channels});
  for (unsigned d = 0; d < 2; ++d) {
    if (axes[d].step > 0) continue;
    axes[d].offset += axes[d].step * (axes[d].taps - 1);
    axes[d].step = -axes[d].step;
    kernel = kernel.reverse(d);
  }
  const bool half = p.in_type == pando::ElementType::half;
  if (half) {
    if (!graph.hasCodelet("popops::Transpose")) popops::addCodelets(graph);
    kernel = popops::cast(graph, kernel, poplar::FLOAT, before, {context, "weights"});
  }
  if (!kernel.isContiguous()) kernel = copy_of(graph, kernel, before, {context, "weights"});
  // Who asks for an epilogue has seen to that.
  const bool direct = finish != nullptr || (out.isContiguous() && !out.intersectsWith(image.flat) && !out.intersectsWith(kernel));
  Tensor to = out;
  if (!direct) {
    to = graph.addVariable(out.elementType(), out.shape(), {context, "output"});
    graph.setTileMapping(to, 0);
    after.add(Copy(to, out, false, context));
  }
  to = to.reshape({batch, size(axes[0].out), size(axes[1].out) * out_channels});
  const bool winograd = is_winograd(p, options);
  if (winograd) kernel = turned_weights(graph, kernel.reshape({9, in_channels * out_channels}), before, context);
  const std::int64_t part = rows_of_part(p, winograd);
  for (std::size_t b = 0; b < batch; ++b)
    for (std::int64_t begin = 0; begin < axes[0].out; begin += part) {
      const std::int64_t end = std::min(axes[0].out, begin + part);
      const std::vector<int> shape = shape_of(p, axes, begin, end, image);
      const poplar::VertexRef v = graph.addVertex(set, half       ? "poplin::ConvRowsHalf"
                                                       : winograd ? "poplin::ConvWinograd"
                                                                  : "poplin::ConvRows");
      if (half) graph.setInitialValue(v["winograd"], winograd);
      graph.setTileMapping(v, 0);
      graph.connect(v["in"], image.flat[b]);
      graph.connect(v["weights"], kernel.flatten());
      graph.connect(v["out"], to[b].slice(size(begin), size(end)).flatten());
      const std::size_t row = size(axes[1].out) * out_channels, first = b * size(axes[0].out);
      if (!half) set_finish(graph, v, finish, (first + size(begin)) * row, (first + size(end)) * row, out_channels);
      graph.setFieldSize(v["shape"], shape.size());
      graph.setInitialValue(v["shape"], shape);
    }
}

void print_in_rows(std::ostream& out, const Problem& p, const Options& options) {
  const bool winograd = is_winograd(p, options);
  out << "convolution on the CPU device: " << p.batch << " images of " << axes_of(p)[0].out << " rows, in parts of "
      << rows_of_part(p, winograd) << " rows" << (winograd ? ", 16 products for 36" : "") << '\n';
}

}  // namespace poplin::conv
