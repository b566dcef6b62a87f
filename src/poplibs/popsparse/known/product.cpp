#include "poplibs/popsparse/known/product.h"

#include <pando/cpu_device.hpp>
#include <popops/Cast.hpp>
#include <popops/Reduce.hpp>
#include <poputil/TileMapping.hpp>
#include <poputil/VertexTemplates.hpp>

#include <algorithm>
#include <map>

#include "poplibs/popsparse/bucket.h"
#include "poplibs/popsparse/known/shares.h"
#include "poplibs/work.h"

namespace popsparse {
namespace {

using namespace poplar;
using namespace poplar::program;
using pando::poplibs::ceil_div;
using poputil::templateVertex;

constexpr std::size_t kMostIndex = 65535;

// Consecutive numbers in a row are one interval.
std::vector<Interval> intervals_of(const std::vector<std::size_t>& ascending, std::size_t unit) {
  std::vector<Interval> out;
  for (const std::size_t i : ascending) {
    if (!out.empty() && out.back().end() == i * unit)
      out.back() = Interval(out.back().begin(), (i + 1) * unit);
    else
      out.emplace_back(i * unit, (i + 1) * unit);
  }
  return out;
}

Tensor gathered(const Tensor& t, const std::vector<Interval>& intervals) {
  if (intervals.size() == 1) return t.slice(intervals[0]);
  std::vector<Tensor> pieces;
  for (const Interval& i : intervals) pieces.push_back(t.slice(i));
  return concat(pieces);
}

// {rows, all_width}: rows of one part of the width together.
Tensor known_dense(Graph& graph, const Type& type, std::size_t rows, const Shares& shares, const DebugContext& name) {
  const Tensor all = graph.addVariable(type, {rows * shares.all_width}, name);
  poputil::mapTensorLinearly(graph, all);
  std::vector<Tensor> columns;
  for (std::size_t l = 0; l < shares.width_parts; ++l) {
    const Interval part = shares.width_of(l);
    columns.push_back(all.slice(rows * part.begin(), rows * part.end()).reshape({rows, part.size()}));
  }
  return concat(columns, 1);
}

class KnownProduct {
 public:
  KnownProduct(Graph& graph, const Known& matrix, const Tensor& values, const Tensor& x, bool transposed, const Options& options,
               const Type& type, Sequence& prog, const DebugContext& name)
      : graph_(graph),
        matrix_(matrix),
        values_(values),
        transposed_(transposed),
        partials_(x.elementType() == FLOAT ? FLOAT : options.partials),
        type_(type),
        prog_(prog),
        name_(name),
        shares_(make_shares(graph.getTarget(), matrix, x.dim(1), transposed, x.elementType(), options)),
        height_(matrix.shape.block[transposed ? 1 : 0]),
        depth_(matrix.shape.block[transposed ? 0 : 1]) {
    for (std::size_t l = 0; l < shares_.width_parts; ++l) x_.push_back(x.slice(shares_.width_of(l), 1).flatten());
    if (!std::all_of(x_.begin(), x_.end(), [](const Tensor& part) { return part.isContiguous(); })) {
      const Tensor copy = known_dense(graph, x.elementType(), x.dim(0), shares_, {name, "dense"});
      prog.add(Copy(x, copy, false, {name, "arrange"}));
      for (std::size_t l = 0; l < shares_.width_parts; ++l) x_[l] = copy.slice(shares_.width_of(l), 1).flatten();
    }
  }

  Tensor result() {
    const ComputeSet cs = graph_.addComputeSet({name_, "multiply"});
    std::vector<Tensor> sums;
    for (std::size_t s = 0; s < shares_.shares.size(); ++s) sums.push_back(of_share(cs, s));
    prog_.add(Execute(cs, name_));
    // Lines that several shares have parts of are added up, all at once.
    std::vector<Tensor> lines, totals;
    std::vector<popops::SingleReduceOp> additions;
    std::vector<std::size_t> added;
    for (std::size_t s = 0; s < sums.size();) {
      const std::size_t begin = s++;
      while (s < sums.size() && shares_.shares[s].first_line == shares_.shares[begin].first_line) ++s;
      if (s > begin + 1) {
        std::vector<Tensor> parts;
        for (std::size_t i = begin; i < s; ++i) parts.push_back(sums[i].expand({0}));
        additions.emplace_back(concat(parts, 0), std::vector<std::size_t>{0}, popops::ReduceParams(popops::Operation::ADD), partials_);
        added.push_back(lines.size());
      }
      lines.push_back(sums[begin]);
    }
    if (!additions.empty()) popops::reduceMany(graph_, additions, totals, prog_, {name_, "sum"});
    for (std::size_t i = 0; i < added.size(); ++i) lines[added[i]] = totals[i];
    const Tensor all = concat(lines, 0);
    return partials_ == type_ ? all : popops::cast(graph_, all, type_, prog_, {name_, "cast"});
  }

 private:
  // Its sums: {lines * height, width}.
  Tensor of_share(const ComputeSet& cs, std::size_t index) {
    const Share& share = shares_.shares[index];
    std::vector<std::size_t> needed;  // lines of x, in blocks
    for (std::size_t i = share.begin; i < share.end; ++i) needed.push_back(line_of_x(shares_.order[i]));
    std::sort(needed.begin(), needed.end());
    needed.erase(std::unique(needed.begin(), needed.end()), needed.end());
    // Where all is at hand, x is read whole.
    const std::size_t all = x_[0].numElements() / shares_.width_of(0).size() / depth_;
    const bool whole = pando::reads_in_place(graph_.getTarget()) && all <= kMostIndex;
    const Tensor words = words_of(share, needed, whole);
    graph_.setTileMapping(words, shares_.tile(index, 0));
    std::vector<Tensor> columns;
    for (std::size_t l = 0; l < shares_.width_parts; ++l) {
      const std::size_t width = shares_.width_of(l).size();
      const Tensor sums = graph_.addVariable(partials_, {share.lines * height_ * width}, {name_, "sums"});
      graph_.setTileMapping(sums, shares_.tile(index, l));
      const Tensor x = whole ? x_[l] : needed.empty() ? x_[l].slice(0, 0) : gathered(x_[l], intervals_of(needed, depth_ * width));
      add_vertices(cs, share, words, x, sums, width, shares_.tile(index, l));
      columns.push_back(sums.reshape({share.lines * height_, width}));
    }
    return concat(columns, 1);
  }

  std::size_t line_of_x(std::size_t block) const { return transposed_ ? matrix_.places[block].row : matrix_.places[block].column; }
  std::size_t line_of_sums(std::size_t block) const { return transposed_ ? matrix_.places[block].column : matrix_.places[block].row; }

  Tensor words_of(const Share& share, const std::vector<std::size_t>& needed, bool whole) {
    const std::size_t count = share.end - share.begin;
    std::vector<unsigned short> words = {1, 0, 0, 0, static_cast<unsigned short>(count & 0xffff), static_cast<unsigned short>(count >> 16)};
    for (std::size_t i = share.begin; i < share.end; ++i) {
      const std::size_t block = shares_.order[i], line = line_of_x(block);
      const auto x = static_cast<unsigned short>(
          whole ? line : static_cast<std::size_t>(std::lower_bound(needed.begin(), needed.end(), line) - needed.begin()));
      const auto sum = static_cast<unsigned short>(line_of_sums(block) - share.first_line);
      words.push_back(transposed_ ? x : sum);
      words.push_back(transposed_ ? sum : x);
    }
    return graph_.addConstant<unsigned short>(UNSIGNED_SHORT, {words.size()}, words, {name_, "places"});
  }

  void add_vertices(const ComputeSet& cs, const Share& share, const Tensor& words, const Tensor& x, const Tensor& sums, std::size_t width,
                    unsigned tile) {
    const std::size_t area = matrix_.shape.area();
    std::vector<std::size_t> blocks(shares_.order.begin() + static_cast<std::ptrdiff_t>(share.begin),
                                    shares_.order.begin() + static_cast<std::ptrdiff_t>(share.end));
    const Tensor values = blocks.empty() ? values_.slice(0, 0) : gathered(values_, intervals_of(blocks, area));
    // A share of the CPU device is one vertex.
    const std::size_t most = pando::reads_in_place(graph_.getTarget()) ? 1 : graph_.getTarget().getNumWorkerContexts();
    const std::size_t lines = share.lines * height_, size = ceil_div(lines, most);
    for (std::size_t begin = 0; begin < lines; begin += size) {
      const std::size_t end = std::min(lines, begin + size);
      const char* const kind = transposed_ ? "popsparse::SparseTransposedProduct" : "popsparse::SparseProduct";
      const VertexRef v =
          graph_.addVertex(cs, templateVertex(kind, x.elementType(), partials_, false),
                           {{"meta", words}, {"values", values}, {"x", x}, {"sums", sums.slice(begin * width, end * width)}});
      graph_.setInitialValue(v["home"], 0u);
      graph_.setInitialValue(v["width"], static_cast<unsigned>(width));
      graph_.setInitialValue(v["block_rows"], static_cast<unsigned short>(matrix_.shape.block[0]));
      graph_.setInitialValue(v["block_columns"], static_cast<unsigned short>(matrix_.shape.block[1]));
      graph_.setInitialValue(v[transposed_ ? "first_column" : "first_row"], static_cast<unsigned>(begin));
      graph_.setInitialValue(v[transposed_ ? "columns" : "rows"], static_cast<unsigned>(end - begin));
      graph_.setTileMapping(v, tile);
    }
  }

  Graph& graph_;
  const Known& matrix_;
  Tensor values_;
  bool transposed_;
  Type partials_, type_;
  Sequence& prog_;
  const DebugContext& name_;
  Shares shares_;
  std::size_t height_, depth_;  // of a block: lines of sums, lines of x
  std::vector<Tensor> x_;       // of each part of the width
};

}  // namespace

Tensor create_values(Graph& graph, const Type& type, const Known& matrix, std::size_t width, bool transposed, const Options& options,
                     const DebugContext& name) {
  const Tensor values = graph.addVariable(type, {matrix.places.size() * matrix.shape.area()}, name);
  const Shares shares = make_shares(graph.getTarget(), matrix, width, transposed, type, options);
  const std::size_t area = matrix.shape.area();
  for (std::size_t s = 0; s < shares.shares.size(); ++s) {
    // Among the tiles that multiply by them.
    const Share& share = shares.shares[s];
    const std::size_t blocks = share.end - share.begin, each = std::max<std::size_t>(1, ceil_div(blocks, shares.width_parts));
    for (std::size_t at = 0; at < blocks; ++at)
      graph.setTileMapping(values.slice(shares.order[share.begin + at] * area, (shares.order[share.begin + at] + 1) * area),
                           shares.tile(s, at / each));
  }
  return values;
}

Tensor create_known_dense(Graph& graph, const Type& type, const Known& matrix, std::size_t width, bool transposed, const Options& options,
                          const DebugContext& name) {
  const std::size_t rows = transposed ? matrix.shape.rows : matrix.shape.columns;
  return known_dense(graph, type, rows, make_shares(graph.getTarget(), matrix, width, transposed, type, options), name);
}

Tensor multiply(Graph& graph, const Known& matrix, const Tensor& values, const Tensor& x, bool transposed, const Options& options,
                const Type& type, Sequence& prog, const DebugContext& name) {
  return KnownProduct(graph, matrix, values, x, transposed, options, type, prog, name).result();
}

}  // namespace popsparse
