#include "poplibs/poplin/matmul/product.h"

#include <algorithm>
#include <string>

namespace poplin::internal::matmul {
namespace {

using poplar::Graph;
using poplar::Tensor;

// Rows and columns of the pieces that operands are kept in, at least: smaller ones multiply slowly.
constexpr std::size_t kPiece = 32;

std::size_t up(std::size_t n, std::size_t d) { return (n + d - 1) / d; }
// Pieces of `extent` for `owners`, of a multiple of kPiece.
std::size_t piece_of(std::size_t extent, std::size_t owners) { return std::min(extent, up(up(extent, owners), kPiece) * kPiece); }

void append(std::vector<poplar::Interval>& list, std::size_t begin, std::size_t end) {
  if (!list.empty() && list.back().end() == begin) list.back() = poplar::Interval(list.back().begin(), end);
  else list.emplace_back(begin, end);
}

}  // namespace

Product::Product(const Problem& problem, const Plan& plan, const poplar::Target& target)
    : problem_(problem), plan_(plan), grid_(grid_of(problem, plan)), tiles_(target.getNumTiles()) {
  const Block& block = plan_.block;
  a_ = {problem.groups, {problem.m, block.m, piece_of(block.m, grid_.n)}, {problem.k, block.k, plan.k_step}};
  b_ = {problem.groups, {problem.k, block.k, plan.k_step}, {problem.n, block.n, piece_of(block.n, grid_.m)}};
  c_ = {problem.groups, {problem.m, block.m, block.m}, {problem.n, block.n, block.n}};
}

unsigned Product::tile(std::size_t group, std::size_t m, std::size_t n, std::size_t k) const {
  return tile_of(grid_, plan_.outer, tiles_, group / plan_.block.groups, m, n, k);
}

// Pieces of rows go to the tiles along n, spread out; which of them is first differs from block to block.
Product::Mapping Product::map_a() const {
  Mapping mapping(tiles_);
  a_.for_each_piece([&](std::size_t g, std::size_t y, std::size_t x, std::size_t py, std::size_t, std::size_t begin, std::size_t elements) {
    const std::size_t owner = (py * grid_.n / a_.rows.pieces(y) + y + x) % grid_.n;
    append(mapping[tile(g, y, owner, x)], begin, begin + elements);
  });
  return mapping;
}

Product::Mapping Product::map_b() const {
  Mapping mapping(tiles_);
  b_.for_each_piece([&](std::size_t g, std::size_t y, std::size_t x, std::size_t, std::size_t px, std::size_t begin, std::size_t elements) {
    const std::size_t owner = (px * grid_.m / b_.columns.pieces(x) + y + x) % grid_.m;
    append(mapping[tile(g, owner, x, y)], begin, begin + elements);
  });
  return mapping;
}

// The blocks of a tile's groups follow each other; the tiles along k share them out.
Product::Mapping Product::map_c() const {
  Mapping mapping(tiles_);
  for (std::size_t y = 0; y < grid_.m; ++y)
    for (std::size_t x = 0; x < grid_.n; ++x)
      for (std::size_t g = 0; g < problem_.groups; g += plan_.block.groups) {
        const std::size_t groups = std::min(plan_.block.groups, problem_.groups - g), begin = c_.block_at(g, y, x);
        const std::size_t size = groups * c_.rows.extent(y) * c_.columns.extent(x);
        const std::size_t share = up(up(size, grid_.k), 8) * 8;
        for (std::size_t k = 0; k * share < size; ++k) append(mapping[tile(g, y, x, k)], begin + k * share, begin + std::min(size, (k + 1) * share));
      }
  return mapping;
}

Tensor Product::create(Graph& graph, const Layout& layout, const poplar::Type& type, const Mapping& mapping, const poplar::DebugContext& debug) const {
  const Tensor flat = graph.addVariable(type, {layout.size()}, debug);
  graph.setTileMapping(flat, mapping);
  return from_flat(layout, flat);
}

Tensor Product::create_a(Graph& graph, const poplar::DebugContext& debug) const { return create(graph, a_, problem_.input, map_a(), debug); }
Tensor Product::create_b(Graph& graph, const poplar::DebugContext& debug) const { return create(graph, b_, problem_.input, map_b(), debug); }
Tensor Product::create_c(Graph& graph, const poplar::DebugContext& debug) const { return create(graph, c_, problem_.output, map_c(), debug); }

Tensor Product::arrange(Graph& graph, const Layout& layout, const Mapping& mapping, const Tensor& t, poplar::program::Sequence& prog,
                        const poplar::DebugContext& debug) const {
  const Tensor flat = to_flat(layout, t);
  if (pieces_are_whole(graph, layout, flat)) return flat;
  const Tensor copy = graph.addVariable(t.elementType(), {layout.size()}, debug);
  graph.setTileMapping(copy, mapping);
  prog.add(poplar::program::Copy(flat, copy, false, debug));
  return copy;
}

Tensor Product::arrange_a(Graph& graph, const Tensor& a, poplar::program::Sequence& prog, const poplar::DebugContext& debug) const {
  return arrange(graph, a_, map_a(), a, prog, {debug, "A"});
}
Tensor Product::arrange_b(Graph& graph, const Tensor& b, poplar::program::Sequence& prog, const poplar::DebugContext& debug) const {
  return arrange(graph, b_, map_b(), b, prog, {debug, "B"});
}

std::vector<Tensor> Product::multiply(Graph& graph, const Tensor& a, const Tensor& b, poplar::program::Sequence& prog,
                                      const poplar::DebugContext& debug) const {
  std::vector<Tensor> partials;
  Mapping mapping(tiles_);
  for (std::size_t k = 0; k < grid_.k; ++k) {
    for (auto& intervals : mapping) intervals.clear();
    for (std::size_t y = 0; y < grid_.m; ++y)
      for (std::size_t x = 0; x < grid_.n; ++x)
        for (std::size_t g = 0; g < problem_.groups; ++g) {
          const std::size_t begin = c_.block_at(g, y, x);
          append(mapping[tile(g, y, x, k)], begin, begin + c_.rows.extent(y) * c_.columns.extent(x));
        }
    partials.push_back(graph.addVariable(problem_.options.partials, {c_.size()}, {debug, "partials"}));
    graph.setTileMapping(partials.back(), mapping);
  }
  const std::size_t steps = up(plan_.block.k, plan_.k_step);
  for (std::size_t step = 0; step < steps; ++step) {
    const poplar::ComputeSet set = graph.addComputeSet({debug, "multiply"});
    add_step(graph, step, a, b, partials, set);
    prog.add(poplar::program::Execute(set, debug));
  }
  return partials;
}

void Product::multiply_into(Graph& graph, const Tensor& a, const Tensor& b, const Tensor& c, poplar::program::Sequence& prog,
                            const poplar::DebugContext& debug) const {
  const std::size_t steps = up(plan_.block.k, plan_.k_step);
  for (std::size_t step = 0; step < steps; ++step) {
    const poplar::ComputeSet set = graph.addComputeSet({debug, "multiply"});
    add_step(graph, step, a, b, {c}, set);
    prog.add(poplar::program::Execute(set, debug));
  }
}

void Product::add_step(Graph& graph, std::size_t step, const Tensor& a, const Tensor& b, const std::vector<Tensor>& c, poplar::ComputeSet set) const {
  const std::string vertex = "poplin::BlockProduct<" + problem_.input.toString() + "," + problem_.options.partials.toString() + "," +
                             (step > 0 ? "true>" : "false>");
  std::vector<Tensor> rows, columns;
  for (std::size_t k = 0; k < grid_.k; ++k) {
    if (step >= a_.columns.pieces(k)) continue;
    const std::size_t depth = a_.columns.piece_extent(k, step);
    for (std::size_t g = 0; g < problem_.groups; ++g)
      for (std::size_t y = 0; y < grid_.m; ++y) {
        rows.clear();
        for (std::size_t p = 0; p < a_.rows.pieces(y); ++p) {
          const std::size_t begin = a_.piece_at(g, y, k, p, step);
          rows.push_back(a.slice(begin, begin + a_.rows.piece_extent(y, p) * depth));
        }
        for (std::size_t x = 0; x < grid_.n; ++x) {
          columns.clear();
          for (std::size_t p = 0; p < b_.columns.pieces(x); ++p) {
            const std::size_t begin = b_.piece_at(g, k, x, step, p);
            columns.push_back(b.slice(begin, begin + b_.columns.piece_extent(x, p) * depth));
          }
          const poplar::VertexRef v = graph.addVertex(set, vertex);
          graph.setTileMapping(v, tile(g, y, x, k));
          const std::size_t begin = c_.block_at(g, y, x);
          graph.connect(v["a"], rows);
          graph.connect(v["b"], columns);
          graph.connect(v["c"], c[k].slice(begin, begin + c_.rows.extent(y) * c_.columns.extent(x)));
          graph.setInitialValue(v["k"], static_cast<unsigned>(depth));
        }
      }
  }
}

}  // namespace poplin::internal::matmul
