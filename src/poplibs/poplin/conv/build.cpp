#include "poplibs/poplin/conv/build.h"

#include <pando/cpu_device.hpp>

#include "poplibs/poplin/conv/arrangement.h"
#include "poplibs/poplin/conv/plan/grid.h"
#include "poplibs/poplin/plan/cost.h"
#include "poplibs/work.h"

#include <algorithm>
#include <map>
#include <string>

namespace poplin::conv {
namespace {

using poplar::ComputeSet;
using poplar::DebugContext;
using poplar::Graph;
using poplar::Tensor;
using poplar::Type;
using poplar::VertexRef;

// Activations {groups, batch, lines..., channels}, one group: the channels `piece` of a box, flat in the arrangement's order.
Tensor activations(const Tensor& view, const Arrangement& a, std::int64_t group, Range batch, const std::vector<Range>& field,
                   Range piece) {
  std::vector<Range> ranges = {{group, group + 1}, batch};
  ranges.insert(ranges.end(), field.begin(), field.end());
  ranges.push_back(piece);
  Tensor t = box(view, ranges);
  if (a.order == kChannelsFirst) t = t.dimRoll(static_cast<unsigned>(t.rank() - 1), 2);
  return t.flatten();
}

// Weights {groups, lines..., in, out}, one group: flat in the arrangement's order.
Tensor weights_of(const Tensor& view, const Arrangement& a, std::int64_t group, Range in, Range out) {
  std::vector<Range> ranges = {{group, group + 1}};
  for (unsigned d = 1; d + 2 < view.rank(); ++d) ranges.push_back({0, static_cast<std::int64_t>(view.dim(d))});
  ranges.push_back(in);
  ranges.push_back(out);
  Tensor t = box(view, ranges);
  const unsigned last = static_cast<unsigned>(t.rank() - 1);
  if (a.order == kTransposed || a.order == kTransposedFirst) t = t.dimRoll(last, last - 1);
  if (a.order == kChannelsFirst || a.order == kTransposedFirst) t = t.dimRoll(last, 1).dimRoll(last, 1);
  return t.flatten();
}

struct Operands {
  std::vector<Tensor> first, second;
};

// Adds one group's activations of a box: rows as pieces of their own, if the plan says that they lie whole; else pieces of channels. The
// order.
int add_activations(std::vector<Tensor>& to, const Tensor& view, const Arrangement& a, const Partition& cut, std::int64_t group,
                    Range batch, const std::vector<Range>& field, Range channels) {
  const std::vector<Range> pieces = pieces_of(a, channels);
  if (!cut.by_row || field.size() < 2 || a.order != kChannelsLast || pieces.size() != 1 || batch.size() * field[0].size() > kConvPieces) {
    for (const Range& piece : pieces) to.push_back(activations(view, a, group, batch, field, piece));
    return a.order;
  }
  std::vector<Range> row = field;
  for (std::int64_t n = batch.begin; n < batch.end; ++n)
    for (std::int64_t r = field[0].begin; r < field[0].end; ++r) {
      row[0] = {r, r + 1};
      to.push_back(activations(view, a, group, {n, n + 1}, row, channels));
    }
  return kByRow;
}

// The same of weights: kernel elements are the rows.
int add_weights(std::vector<Tensor>& to, const Tensor& view, const Arrangement& a, const Partition& cut, std::int64_t group, Range in,
                Range out) {
  const Tensor all = weights_of(view, a, group, in, out);
  const std::size_t elements = static_cast<std::size_t>(in.size() * out.size()), taps = all.numElements() / elements;
  if (!cut.by_row || a.order != kChannelsLast || taps > kConvPieces) {
    const bool by_piece = a.order == kTransposed;
    for (const Range& piece : by_piece ? pieces_of(a, in) : std::vector<Range>{in}) to.push_back(weights_of(view, a, group, piece, out));
    return a.order;
  }
  for (std::size_t t = 0; t < taps; ++t) to.push_back(all.slice(t * elements, (t + 1) * elements));
  return kByRow;
}

// What a block needs of the input.
std::vector<Range> input_field(const Problem& p, const Block& b) {
  std::vector<Range> field;
  for (std::size_t d = 0; d < p.lines.size(); ++d) field.push_back(input_range(p.lines[d], b.field[d], {0, p.lines[d].taps}));
  return field;
}

// The vertex's state, as codelets/conv/conv_block.h reads it.
std::vector<int> shape_of(const Problem& p, const Block& b, const std::vector<Range>& inputs, int first_order, int second_order) {
  std::vector<int> shape = {static_cast<int>(p.lines.size()),
                            static_cast<int>(b.batch.size()),
                            static_cast<int>(b.in_channels.size()),
                            static_cast<int>(b.out_channels.size()),
                            first_order,
                            second_order};
  for (std::size_t d = 0; d < p.lines.size(); ++d) {
    const Line line = part_of(p.lines[d], b.field[d], inputs[d]);
    const std::int64_t numbers[] = {line.in, line.out, line.taps, line.stride, line.dilation, line.offset, line.step};
    for (const std::int64_t n : numbers) shape.push_back(static_cast<int>(n));
  }
  return shape;
}

std::string vertex_of(const char* name, const Type& in, const Type& out) {
  return "poplin::" + std::string(name) + "<" + in.toString() + "," + out.toString() + ">";
}

struct Sizes {
  std::vector<std::size_t> sizes;
  Sizes& add(std::int64_t n) { return sizes.push_back(static_cast<std::size_t>(n)), *this; }
};

// A tensor {outer..., channels} in which the channels of a part lie together: one variable {parts, outer..., channels of a part} if
// the parts are equal, which keeps views of it simple; else a variable for each part.
Tensor by_channels(Graph& graph, const Type& type, std::int64_t channels, std::int64_t parts, const Sizes& outer,
                   const DebugContext& context) {
  const unsigned last = static_cast<unsigned>(outer.sizes.size());
  if (channels % parts == 0) {
    Sizes whole{{static_cast<std::size_t>(parts)}};
    whole.sizes.insert(whole.sizes.end(), outer.sizes.begin(), outer.sizes.end());
    return graph.addVariable(type, whole.add(channels / parts).sizes, context).dimRoll(0, last).flatten(last, last + 2);
  }
  std::vector<Tensor> list;
  for (std::int64_t n = 0; n < parts; ++n) {
    const Range r = part(channels, parts, n);
    if (!r.empty()) list.push_back(graph.addVariable(type, Sizes(outer).add(r.size()).sizes, context));
  }
  return concat(list, last);
}

Tensor by_output_channels(Graph& graph, const Type& type, const Problem& p, const Partition& cut, const Sizes& outer,
                          const DebugContext& context) {
  return by_channels(graph, type, p.out_channels, cut.out_channels * cut.serial, outer, context);
}

// A range of a line's outputs, with the padding beyond the line if it is at its end.
Range with_padding(Range r, std::int64_t size, std::int64_t lower, std::int64_t upper) {
  return {r.begin == 0 ? 0 : r.begin + lower, r.end + lower + (r.end == size ? upper : 0)};
}

std::vector<unsigned> channels_second(std::size_t rank) {
  // {groups, batch, field..., channels} as {batch, groups, channels, field...}
  std::vector<unsigned> order = {1, 0, static_cast<unsigned>(rank - 1)};
  for (unsigned d = 2; d + 1 < rank; ++d) order.push_back(d);
  return order;
}

Tensor as_activations(const Tensor& t, std::size_t field_dims) {
  Tensor out = t.dimShuffle(channels_second(t.rank())).flatten(1, 3);
  return field_dims == 0 ? out.squeeze({2}) : out;
}

// {groups, kernel..., in, out} as {groups, out, in, kernel...}
Tensor as_weights(const Tensor& t, std::size_t field_dims) {
  const unsigned last = static_cast<unsigned>(t.rank() - 1);
  const Tensor out = t.dimRoll(last, 1).dimRoll(last, 2);
  return field_dims == 0 ? out.squeeze({3}) : out;
}

Sizes kernel_shape(const ConvParams& params, const Problem& p) {
  Sizes shape;
  shape.add(p.groups);
  for (std::size_t d = 0; d < p.lines.size(); ++d)
    shape.add(d < params.getNumFieldDims() ? static_cast<std::int64_t>(params.kernelShape[d]) : 1);
  return shape.add(p.in_channels);
}

std::vector<Range> whole_kernel(const Tensor& t, Range groups, Range in, Range out) {
  std::vector<Range> ranges = {groups};
  for (unsigned d = 1; d + 2 < t.rank(); ++d) ranges.push_back({0, static_cast<std::int64_t>(t.dim(d))});
  ranges.push_back(in);
  ranges.push_back(out);
  return ranges;
}

// What blocks that compute the same results have in common.
struct Sum {
  Tensor partials;  // {terms, n}
  Tensor out;       // {n}
  std::vector<unsigned> tiles;
  FinishedBox finish;  // with an epilogue: what it has beside `out`
};

// Sums that are worth a vertex, unless there are tiles without work; and when the host's time counts.
constexpr std::int64_t kLeastSums = 32, kLeastSumsByRow = 256;

// Elements [begin, end) of a sum.
VertexRef add_sum(Graph& graph, ComputeSet set, const Sum& sum, std::size_t begin, std::size_t end, const FinishViews* finish) {
  const Tensor partials = sum.partials.slice(begin, end, 1);
  if (finish == nullptr) {
    const VertexRef v = graph.addVertex(set, vertex_of("ConvSum", sum.partials.elementType(), sum.out.elementType()));
    graph.connect(v["partials"], partials);
    graph.connect(v["out"], sum.out.slice(begin, end));
    return v;
  }
  const VertexRef v = graph.addVertex(set, "poplin::FinishedSum");
  graph.connect(v["in"], partials);
  graph.connect(v["out"], sum.out.slice(begin, end));
  std::vector<Tensor> operands, more;
  for (std::size_t i = 0; i < sum.finish.operands.size(); ++i) {
    const Tensor& t = sum.finish.operands[i];
    operands.push_back(finish->finish->operands[i].is_matrix ? t.slice(begin, end) : t);
  }
  for (const Tensor& t : sum.finish.more) more.push_back(t.slice(begin, end));
  graph.connect(v["operands"], operands);
  graph.connect(v["more"], more);
  internal::set_words(graph, v, internal::words_for(*finish->finish, sum.finish.channels, begin % sum.finish.channels));
  return v;
}

// Adds up partial sums, some of them on each of the tiles.
void add_sums(Graph& graph, ComputeSet set, const Sum& sum, bool by_row, const FinishViews* finish) {
  const poplar::Target& target = graph.getTarget();
  const std::int64_t n = static_cast<std::int64_t>(sum.out.numElements()), grain = 8, tiles = static_cast<std::int64_t>(sum.tiles.size());
  const std::int64_t workers = pando::shares_work_among_threads(target) ? 1 : pando::poplibs::vertices_per_tile(target);
  const std::int64_t grains = (n + grain - 1) / grain,
                     worth = by_row ? std::max<std::int64_t>(1, n / kLeastSumsByRow) : std::max(tiles, n / kLeastSums);
  const std::int64_t vertices = std::min(tiles * workers, worth);
  for (std::int64_t i = 0; i < vertices; ++i) {
    const Range g = part(grains, vertices, i);
    if (g.empty()) continue;
    const std::size_t begin = static_cast<std::size_t>(g.begin * grain), end = static_cast<std::size_t>(std::min(n, g.end * grain));
    const VertexRef v = add_sum(graph, set, sum, begin, end, finish);
    graph.setTileMapping(v, sum.tiles[static_cast<std::size_t>(i * tiles / vertices)]);
  }
}

}  // namespace

ComputeSet Stages::at(std::size_t depth) {
  while (sets_.size() <= depth) sets_.push_back(graph_.addComputeSet(DebugContext(context_, "Convolve")));
  return sets_[depth];
}

void Stages::add_to(poplar::program::Sequence& prog) const {
  for (const ComputeSet& set : sets_) prog.add(poplar::program::Execute(set));
  prog.add(after_);
}

Tensor make_input(Graph& graph, const ConvParams& params, const Problem& p, const Partition& cut, const DebugContext& context) {
  const std::size_t dims = params.getNumFieldDims();
  std::vector<std::int64_t> field(p.lines.size(), 1);
  for (std::size_t d = 0; d < dims; ++d) field[d] = static_cast<std::int64_t>(params.inputFieldShape[d]);
  Sizes outer;
  outer.add(p.groups).add(p.batch);
  for (const std::int64_t f : field) outer.add(f);
  const Tensor all = by_channels(graph, plan::type_of(p.in_type), p.in_channels, cut.in_channels, outer, context);
  // The field in as many parts as the output's; each on the tiles that compute that part of the output.
  Problem inputs = p;
  inputs.out_channels = cut.out_channels;
  for (std::size_t d = 0; d < field.size(); ++d) inputs.lines[d].out = field[d];
  Partition first = cut;
  first.serial = 1;
  each_block(graph, inputs, first, 0, [&](const Block& b) {
    std::vector<Range> ranges = {b.groups, b.batch};
    ranges.insert(ranges.end(), b.field.begin(), b.field.end());
    ranges.push_back(b.in_channels);
    std::int64_t grain = b.in_channels.size();
    for (std::size_t d = 1; cut.by_row && d < b.field.size(); ++d) grain *= b.field[d].size();
    const Tensor mine = share(box(all, ranges), cut.out_channels, b.among_inputs, std::max<std::int64_t>(1, grain));
    if (mine.numElements() > 0) graph.setTileMapping(mine, b.tile);
  });
  return as_activations(all, dims);
}

Tensor make_weights(Graph& graph, const ConvParams& params, const Problem& p, const Partition& cut, const DebugContext& context) {
  const Tensor all = by_output_channels(graph, plan::type_of(p.in_type), p, cut, kernel_shape(params, p), context);
  Problem outputs = p;  // all tiles take part, even if there is less of the field than parts of it
  outputs.batch = cut.batch;
  for (std::size_t d = 0; d < cut.field.size(); ++d) outputs.lines[d].out = cut.field[d];
  for (std::int64_t step = 0; step < cut.serial; ++step)
    each_block(graph, outputs, cut, step, [&](const Block& b) {
      const Tensor mine =
          share(box(all, whole_kernel(all, b.groups, b.in_channels, b.out_channels)), cut.batch * cut.field_blocks(), b.among_weights,
                std::max<std::int64_t>(1, b.out_channels.size() * (cut.by_row ? b.in_channels.size() : 1)));
      if (mine.numElements() > 0) graph.setTileMapping(mine, b.tile);
    });
  return as_weights(all, params.getNumFieldDims());
}

Tensor make_output(Graph& graph, const ConvParams& params, const Problem& p, const Partition& cut, const DebugContext& context) {
  const std::size_t dims = params.getNumFieldDims();
  std::vector<std::int64_t> lower(p.lines.size(), 0), upper(p.lines.size(), 0);
  Sizes outer;
  outer.add(p.groups).add(p.batch);
  for (std::size_t d = 0; d < p.lines.size(); ++d) {
    if (d < dims) lower[d] = params.outputTransform.paddingLower[d], upper[d] = params.outputTransform.paddingUpper[d];
    outer.add(p.lines[d].out + lower[d] + upper[d]);
  }
  const Tensor all = by_output_channels(graph, plan::type_of(p.out_type), p, cut, outer, context);
  if (std::any_of(p.lines.begin(), p.lines.end(), [](const Line& l) { return l.out == 0; })) {
    graph.setTileMapping(all, 0);  // padding only
    return as_activations(all, dims);
  }
  for (std::int64_t step = 0; step < cut.serial; ++step)
    each_block(graph, p, cut, step, [&](const Block& b) {
      std::vector<Range> ranges = {b.groups, b.batch};
      for (std::size_t d = 0; d < p.lines.size(); ++d) ranges.push_back(with_padding(b.field[d], p.lines[d].out, lower[d], upper[d]));
      ranges.push_back(b.out_channels);
      const Tensor mine = share(box(all, ranges), cut.in_channels, b.among_outputs, 8);
      if (mine.numElements() > 0) graph.setTileMapping(mine, b.tile);
    });
  return as_activations(all, dims);
}

Tensor make_weight_gradient(Graph& graph, const ConvParams& params, const Problem& p, const Partition& cut, const DebugContext& context) {
  Problem result = p;
  result.in_type = p.out_type;
  return make_weights(graph, params, result, cut, context);
}

namespace {

// Where blocks' results go: straight into the result, or into partial sums that are added up when all of them are there.
class Results {
 public:
  Results(Graph& graph, const Problem& problem, const Options& options, std::int64_t terms, const DebugContext& context,
          const FinishViews* finish = nullptr)
      : graph_(graph),
        problem_(problem),
        finish_(finish),
        terms_(terms),
        type_(terms == 1              ? plan::type_of(problem.out_type)
              : options.half_partials ? poplar::HALF
                                      : poplar::FLOAT),
        context_(context) {}

  const Type& type() const { return type_; }

  // One row for each group of the block. `out` is the block's box of the result, the `ranges` of it; `term` counts the blocks of a box.
  Tensor of(const Block& b, const Tensor& out, const std::vector<Range>& ranges, std::int64_t term) {
    const Tensor rows =
        box(out, ranges).reshape({static_cast<std::size_t>(b.groups.size()), elements(ranges) / static_cast<std::size_t>(b.groups.size())});
    if (terms_ == 1) return rows;
    std::vector<std::int64_t> key;
    for (const Range& r : ranges) key.push_back(r.begin);
    Sum& sum = sums_[key];
    if (sum.tiles.empty())
      sum = {graph_.addVariable(type_, {static_cast<std::size_t>(terms_), rows.numElements()}, DebugContext(context_, "partials")),
             rows.flatten(),
             {},
             finish_ ? finished_box(*finish_, problem_, b, ranges) : FinishedBox()};
    const Tensor partial = sum.partials[static_cast<std::size_t>(term)];
    graph_.setTileMapping(partial, b.tile);
    sum.tiles.push_back(b.tile);
    return partial.reshape(rows.shape());
  }

  void add_up(Stages& stages, std::size_t depth, bool by_row) {
    for (const auto& [key, sum] : sums_) add_sums(graph_, stages.at(depth), sum, by_row, finish_);
  }

 private:
  static std::size_t elements(const std::vector<Range>& ranges) {
    std::size_t n = 1;
    for (const Range& r : ranges) n *= static_cast<std::size_t>(r.size());
    return n;
  }

  Graph& graph_;
  const Problem& problem_;
  const FinishViews* finish_;
  std::int64_t terms_;
  Type type_;
  const DebugContext& context_;
  std::map<std::vector<std::int64_t>, Sum> sums_;
};

std::vector<Tensor> rows_of(const Tensor& t) {
  std::vector<Tensor> rows;
  for (std::size_t i = 0; i < t.dim(0); ++i) rows.push_back(t[i]);
  return rows;
}

VertexRef add_vertex(Graph& graph, ComputeSet set, const std::string& name, const Block& b, const char* second_field,
                     const Operands& operands, const Tensor& to, const std::vector<int>& shape) {
  const VertexRef v = graph.addVertex(set, name);
  graph.connect(v["in"], operands.first);
  graph.connect(v[second_field], operands.second);
  graph.connect(v["out"], rows_of(to));
  graph.setFieldSize(v["shape"], shape.size());
  graph.setInitialValue(v["shape"], shape);
  graph.setTileMapping(v, b.tile);
  return v;
}

bool any_empty(const std::vector<Range>& ranges) {
  return std::any_of(ranges.begin(), ranges.end(), [](const Range& r) { return r.empty(); });
}

}  // namespace

void build_forward(Graph& graph, const Problem& p, const Options& options, const Partition& cut, const Tensor& in, const Tensor& weights,
                   const Tensor& out, Stages& stages, const DebugContext& context, const FinishViews* finish) {
  if (out.numElements() == 0) return;
  const Arrangement ins = arrangement_of_activations(in), kernels = arrangement_of_weights(weights);
  for (std::int64_t step = 0; step < cut.serial; ++step) {
    const std::size_t depth = 2 * static_cast<std::size_t>(step);
    const bool in_parts = cut.in_channels > 1;
    Results results(graph, p, options, cut.in_channels, context, finish);
    const std::string name =
        finish && !in_parts ? "poplin::FinishedConv" : vertex_of("ConvForward", plan::type_of(p.in_type), results.type());
    const ComputeSet set = stages.at(depth);
    each_block(graph, p, cut, step, [&](const Block& b) {
      const std::vector<Range> field = input_field(p, b);
      std::vector<Range> ranges = {b.groups, b.batch};
      ranges.insert(ranges.end(), b.field.begin(), b.field.end());
      ranges.push_back(b.out_channels);
      Operands operands;
      int in_order = ins.order, kernel_order = kernels.order;
      for (std::int64_t g = b.groups.begin; g < b.groups.end && !any_empty(field) && !b.in_channels.empty() && p.taps() > 0; ++g) {
        in_order = add_activations(operands.first, in, ins, cut, g, b.batch, field, b.in_channels);
        kernel_order = add_weights(operands.second, weights, kernels, cut, g, b.in_channels, b.out_channels);
      }
      const Tensor to = results.of(b, out, ranges, b.among_outputs);
      const VertexRef v = add_vertex(graph, set, name, b, "weights", operands, to, shape_of(p, b, field, in_order, kernel_order));
      if (finish && !in_parts) connect_finish(graph, v, *finish, p, b, ranges);
    });
    if (in_parts) results.add_up(stages, depth + 1, cut.by_row);
  }
}

void build_weight_gradient(Graph& graph, const Problem& p, const Options& options, const Partition& cut, const Tensor& in,
                           const Tensor& deltas, const Tensor& out, Stages& stages, const DebugContext& context) {
  if (out.numElements() == 0) return;
  const Arrangement ins = arrangement_of_activations(in), outs = arrangement_of_activations(deltas);
  for (std::int64_t step = 0; step < cut.serial; ++step) {
    const std::size_t depth = 2 * static_cast<std::size_t>(step);
    const std::int64_t terms = cut.batch * cut.field_blocks();
    Results results(graph, p, options, terms, context);
    const std::string name = vertex_of("ConvWeightGradient", plan::type_of(p.in_type), results.type());
    const ComputeSet set = stages.at(depth);
    each_block(graph, p, cut, step, [&](const Block& b) {
      const std::vector<Range> field = input_field(p, b);
      Operands operands;
      int in_order = ins.order, out_order = outs.order;
      for (std::int64_t g = b.groups.begin; g < b.groups.end && !any_empty(field); ++g) {
        in_order = add_activations(operands.first, in, ins, cut, g, b.batch, field, b.in_channels);
        out_order = add_activations(operands.second, deltas, outs, cut, g, b.batch, b.field, b.out_channels);
      }
      const Tensor to = results.of(b, out, whole_kernel(out, b.groups, b.in_channels, b.out_channels), b.among_weights);
      add_vertex(graph, set, name, b, "deltas", operands, to, shape_of(p, b, field, in_order, out_order));
    });
    if (terms > 1) results.add_up(stages, depth + 1, cut.by_row);
  }
}

}  // namespace poplin::conv
