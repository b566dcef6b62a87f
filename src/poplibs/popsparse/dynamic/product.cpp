#include "poplibs/popsparse/dynamic/product.h"

#include <pando/cpu_device.hpp>
#include <popops/Cast.hpp>
#include <popops/Reduce.hpp>
#include <poputil/VertexTemplates.hpp>

#include <algorithm>

#include "poplibs/popsparse/dynamic/moving.h"
#include "poplibs/poputil/reject.h"
#include "poplibs/work.h"

namespace popsparse {
namespace {

using namespace poplar;
using namespace poplar::program;
using pando::poplibs::ceil_div;
using poputil::templateVertex;

// `t`, one dimension, in even pieces on the tiles of a part.
void spread(Graph& graph, const Tensor& t, const SparsePlan& plan, std::size_t part) {
  constexpr std::size_t kGrain = 4;
  const std::size_t n = t.numElements(), piece = ceil_div(ceil_div(n, plan.width_parts), kGrain) * kGrain;
  for (std::size_t i = 0; i * piece < n; ++i) graph.setTileMapping(t.slice(i * piece, std::min(n, (i + 1) * piece)), plan.tile(part, i));
}

// A dense operand {rows, width}, cut along rows by `cut` into `parts`: each piece with one part of the width is one stretch of memory.
struct Pieces {
  std::vector<std::vector<Tensor>> of;  // [part][width part], one dimension
};

using Cut = std::function<Interval(std::size_t)>;

// Where the pieces of a new dense tensor begin, and the tensor {rows, width} of a vector of its elements.
Tensor as_matrix(const Tensor& pieces, const SparsePlan& plan, std::size_t parts, const Cut& cut) {
  std::size_t at = 0;
  std::vector<Tensor> rows;
  for (std::size_t i = 0; i < parts; ++i) {
    std::vector<Tensor> columns;
    for (std::size_t l = 0; l < plan.width_parts; ++l) {
      const std::size_t height = cut(i).size(), width = plan.width_of(l).size();
      columns.push_back(pieces.slice(at, at + height * width).reshape({height, width}));
      at += height * width;
    }
    rows.push_back(concat(columns, 1));
  }
  return concat(rows, 0);
}

// A new dense tensor. `tile(part, width part)` and as many after it, at distances of `step`, share each piece.
Tensor new_dense(Graph& graph, const SparsePlan& plan, std::size_t parts, const Cut& cut, bool by_columns, const DebugContext& name) {
  const std::size_t rows = cut(parts - 1).end();
  const Tensor all = graph.addVariable(plan.problem.type, {rows * plan.problem.width}, name);
  std::size_t at = 0;
  for (std::size_t i = 0; i < parts; ++i)
    for (std::size_t l = 0; l < plan.width_parts; ++l) {
      const std::size_t size = cut(i).size() * plan.width_of(l).size();
      // Among the tiles that read it.
      const std::size_t readers = by_columns ? plan.row_parts : plan.column_parts, share = ceil_div(ceil_div(size, readers), 4) * 4;
      for (std::size_t r = 0; r * share < size; ++r) {
        const std::size_t part = by_columns ? plan.part(r, i) : plan.part(i, r);
        graph.setTileMapping(all.slice(at + r * share, at + std::min(size, (r + 1) * share)), plan.tile(part, l));
      }
      at += size;
    }
  return as_matrix(all, plan, parts, cut);
}

// The pieces of x; if they are no stretches of memory, those of a copy.
Pieces pieces_of(Graph& graph, const SparsePlan& plan, Tensor x, std::size_t parts, const Cut& cut, bool by_columns, Sequence& prog,
                 const DebugContext& name) {
  const auto piece = [&](std::size_t i, std::size_t l) { return x.slice(cut(i), 0).slice(plan.width_of(l), 1).flatten(); };
  bool apart = false;
  for (std::size_t i = 0; i < parts && !apart; ++i)
    for (std::size_t l = 0; l < plan.width_parts && !apart; ++l) apart = !piece(i, l).isContiguous();
  if (apart) {
    const Tensor copy = new_dense(graph, plan, parts, cut, by_columns, {name, "dense"});
    prog.add(Copy(x, copy, false, {name, "arrange"}));
    x = copy;
  }
  Pieces out;
  for (std::size_t i = 0; i < parts; ++i) {
    out.of.emplace_back();
    for (std::size_t l = 0; l < plan.width_parts; ++l) out.of.back().push_back(piece(i, l));
  }
  return out;
}

Cut rows_cut(const SparsePlan& plan) {
  return [&plan](std::size_t i) { return plan.rows_of(i); };
}
Cut columns_cut(const SparsePlan& plan) {
  return [&plan](std::size_t i) { return plan.columns_of(i); };
}

void set_shape(Graph& graph, const VertexRef& v, const SparsePlan& plan, std::size_t part, std::size_t width_part) {
  graph.setInitialValue(v["home"], static_cast<unsigned>(part));
  graph.setInitialValue(v["width"], static_cast<unsigned>(plan.width_of(width_part).size()));
  graph.setInitialValue(v["block_rows"], static_cast<unsigned short>(plan.problem.shape.block[0]));
  graph.setInitialValue(v["block_columns"], static_cast<unsigned short>(plan.problem.shape.block[1]));
}

// Sums over `dimension` 0, in the type of the problem.
Tensor added(Graph& graph, const SparsePlan& plan, const Tensor& sums, Sequence& prog, const DebugContext& name) {
  if (sums.dim(0) > 1)
    return popops::reduce(graph, sums, plan.problem.type, {0}, popops::ReduceParams(popops::Operation::ADD), prog, {name, "sum"});
  return plan.partials == plan.problem.type ? sums[0] : popops::cast(graph, sums[0], plan.problem.type, prog, {name, "cast"});
}

// What one product does at each turn.
class Product {
 public:
  Product(Graph& graph, const SparsePlan& plan, bool transposed, Pieces x, const DebugContext& name)
      : graph_(graph),
        plan_(plan),
        transposed_(transposed),
        x_(std::move(x)),
        name_(name),
        outputs_(transposed ? plan.column_parts : plan.row_parts),
        summed_(transposed ? plan.row_parts : plan.column_parts),
        cut_(transposed ? columns_cut(plan) : rows_cut(plan)) {
    const std::size_t rows = cut_(outputs_ - 1).end();
    sums_ = graph.addVariable(plan.partials, {summed_, rows * plan.problem.width}, {name, "sums"});
    std::size_t at = 0;
    for (std::size_t o = 0; o < outputs_; ++o) {
      begins_.emplace_back();
      for (std::size_t l = 0; l < plan.width_parts; ++l) {
        begins_.back().push_back(at);
        at += cut_(o).size() * plan.width_of(l).size();
        for (std::size_t s = 0; s < summed_; ++s) graph.setTileMapping(sums(s, o, l), plan.tile(part(s, o), l));
      }
    }
  }

  void turn(Sequence& prog, const Tensor& words, const Tensor& values, bool again) const {
    const ComputeSet cs = graph_.addComputeSet({name_, "multiply"});
    for (std::size_t o = 0; o < outputs_; ++o)
      for (std::size_t s = 0; s < summed_; ++s)
        for (std::size_t l = 0; l < plan_.width_parts; ++l) add_vertices(cs, words, values, o, s, l, again);
    prog.add(Execute(cs, {name_}));
  }

  Tensor result(Sequence& prog) const { return as_matrix(added(graph_, plan_, sums_, prog, name_), plan_, outputs_, cut_); }

 private:
  std::size_t part(std::size_t summed, std::size_t output) const {
    return transposed_ ? plan_.part(summed, output) : plan_.part(output, summed);
  }
  Tensor sums(std::size_t s, std::size_t o, std::size_t l) const {
    const std::size_t at = begins_[o][l];
    return sums_[s].slice(at, at + cut_(o).size() * plan_.width_of(l).size());
  }

  void add_vertices(const ComputeSet& cs, const Tensor& words, const Tensor& values, std::size_t o, std::size_t s, std::size_t l,
                    bool again) const {
    const std::size_t p = part(s, o), width = plan_.width_of(l).size();
    const std::size_t lines = cut_(o).size();
    // Each vertex of a transposed product looks at every block.
    const Target& target = graph_.getTarget();
    const std::size_t most = transposed_ ? target.getNumWorkerContexts() : pando::poplibs::vertices_per_tile(target);
    const std::size_t share = ceil_div(lines, most);
    const Tensor all = sums(s, o, l);
    for (std::size_t begin = 0; begin < lines; begin += share) {
      const std::size_t end = std::min(lines, begin + share);
      const char* const kind = transposed_ ? "popsparse::SparseTransposedProduct" : "popsparse::SparseProduct";
      const VertexRef v = graph_.addVertex(
          cs, templateVertex(kind, plan_.problem.type, plan_.partials, again),
          {{"meta", words[p]}, {"values", values[0][p]}, {"x", x_.of[s][l]}, {"sums", all.slice(begin * width, end * width)}});
      set_shape(graph_, v, plan_, p, l);
      graph_.setInitialValue(v[transposed_ ? "first_column" : "first_row"], static_cast<unsigned>(begin));
      graph_.setInitialValue(v[transposed_ ? "columns" : "rows"], static_cast<unsigned>(end - begin));
      graph_.setTileMapping(v, plan_.tile(p, l));
    }
  }

  Graph& graph_;
  const SparsePlan& plan_;
  bool transposed_;
  Pieces x_;
  const DebugContext& name_;
  std::size_t outputs_, summed_;
  Cut cut_;
  Tensor sums_;  // {summed parts, all}: output part after output part, width part after width part
  std::vector<std::vector<std::size_t>> begins_;
};

Tensor checked(const char* function, const char* what, const Tensor& t, const Type& type, std::size_t parts, std::size_t elements) {
  if (t.elementType() != type || t.rank() != 1 || t.numElements() != parts * elements)
    poputil::reject("popsparse-tensor", "{}: {} of the sparse tensor have {} elements of type {}; expected {} of type {}", function, what,
                    t.numElements(), t.elementType().toString(), parts * elements, type.toString());
  return t.reshape({parts, elements});
}

}  // namespace

dynamic::SparseTensor create_sparse(Graph& graph, const SparsePlan& plan, const DebugContext& name) {
  const Tensor words = graph.addVariable(UNSIGNED_SHORT, {plan.parts(), plan.bucket_words}, {name, "metaInfo"});
  const Tensor values = graph.addVariable(plan.problem.type, {plan.parts(), plan.bucket_values()}, {name, "nzValues"});
  for (std::size_t p = 0; p < plan.parts(); ++p)
    for (const Tensor& t : {words[p], values[p]}) spread(graph, t, plan, p);
  return {words.flatten(), values.flatten(), remember(plan)};
}

Tensor create_dense(Graph& graph, const SparsePlan& plan, const DebugContext& name) {
  return new_dense(graph, plan, plan.column_parts, columns_cut(plan), true, name);
}

Tensor words_of(const char* function, const SparsePlan& plan, const Tensor& words) {
  return checked(function, "the places", words, UNSIGNED_SHORT, plan.parts(), plan.bucket_words);
}
Tensor values_of(const char* function, const SparsePlan& plan, const Tensor& values) {
  return checked(function, "the values", values, plan.problem.type, plan.parts(), plan.bucket_values());
}

Tensor multiply(Graph& graph, const SparsePlan& plan, const dynamic::SparseTensor& matrix, const Tensor& x, bool transposed, Sequence& prog,
                const DebugContext& name) {
  constexpr auto kName = "popsparse::dynamic";
  Pieces pieces = transposed ? pieces_of(graph, plan, x, plan.row_parts, rows_cut(plan), false, prog, name)
                             : pieces_of(graph, plan, x, plan.column_parts, columns_cut(plan), true, prog, name);
  const Product product(graph, plan, transposed, std::move(pieces), name);
  in_turn(
      graph, prog, plan, words_of(kName, plan, matrix.getMetaInfoTensor()), values_of(kName, plan, matrix.getNzValuesTensor()).expand({0}),
      Values::kRead, [&](Sequence& s, const Tensor& words, const Tensor& values, bool again) { product.turn(s, words, values, again); },
      name);
  return product.result(prog);
}

Tensor gradient(Graph& graph, const SparsePlan& plan, const Tensor& words, const Tensor& y, const Tensor& x, Sequence& prog,
                const DebugContext& name) {
  const Pieces ys = pieces_of(graph, plan, y, plan.row_parts, rows_cut(plan), false, prog, name);
  const Pieces xs = pieces_of(graph, plan, x, plan.column_parts, columns_cut(plan), true, prog, name);
  const Tensor sums = graph.addVariable(plan.partials, {plan.width_parts, plan.parts(), plan.bucket_values()}, {name, "sums"});
  for (std::size_t l = 0; l < plan.width_parts; ++l)
    for (std::size_t p = 0; p < plan.parts(); ++p) graph.setTileMapping(sums[l][p], plan.tile(p, l));
  const std::size_t area = plan.problem.shape.area(),
                    share = ceil_div(plan.bucket_blocks, pando::poplibs::vertices_per_tile(graph.getTarget()));
  const Step step = [&](Sequence& s, const Tensor& at_hand, const Tensor& gradients, bool again) {
    const ComputeSet cs = graph.addComputeSet({name, "gradient"});
    for (std::size_t p = 0; p < plan.parts(); ++p)
      for (std::size_t l = 0; l < plan.width_parts; ++l)
        for (std::size_t begin = 0; begin < plan.bucket_blocks; begin += share) {
          const std::size_t end = std::min(plan.bucket_blocks, begin + share);
          const VertexRef v = graph.addVertex(cs, templateVertex("popsparse::SparseGradient", plan.problem.type, plan.partials, again),
                                              {{"meta", at_hand[p]},
                                               {"y", ys.of[p / plan.column_parts][l]},
                                               {"x", xs.of[p % plan.column_parts][l]},
                                               {"gradients", gradients[l][p].slice(begin * area, end * area)}});
          set_shape(graph, v, plan, p, l);
          graph.setInitialValue(v["first_block"], static_cast<unsigned>(begin));
          graph.setTileMapping(v, plan.tile(p, l));
        }
    s.add(Execute(cs, name));
  };
  in_turn(graph, prog, plan, words, sums, Values::kChanged, step, name);
  return added(graph, plan, sums.reshape({plan.width_parts, plan.parts() * plan.bucket_values()}), prog, name);
}

}  // namespace popsparse
