#include "poplibs/poplin/matmul/product.h"

#include <algorithm>
#include <string>

#include "poplibs/poplin/matmul/pieces.h"

namespace poplin::internal::matmul {
namespace {

using poplar::Graph;
using poplar::Tensor;

// Rows and columns of the pieces that operands are kept in, at least: smaller ones multiply slowly.
constexpr std::size_t kPiece = 32;

// Pieces of `extent` for `owners`, of a multiple of kPiece.
std::size_t piece_of(std::size_t extent, std::size_t owners) {
  return std::min(extent, up(up(extent, std::min<std::size_t>(owners, kMostPieces)), kPiece) * kPiece);
}

void append(std::vector<poplar::Interval>& list, std::size_t begin, std::size_t end) {
  if (!list.empty() && list.back().end() == begin)
    list.back() = poplar::Interval(list.back().begin(), end);
  else
    list.emplace_back(begin, end);
}

}  // namespace

Product::Product(const Problem& problem, const ProductPlan& plan, const poplar::Target& target, Pass pass)
    : problem_(problem),
      plan_(plan),
      grid_(grid_of(problem, plan)),
      tiles_(target.getNumTiles()),
      pass_(pass),
      parts_(pass == Pass::forward    ? grid_.k
             : pass == Pass::backward ? grid_.n
                                      : grid_.m) {
  const Block& block = plan_.block;
  x_ = {problem.groups, {problem.m, block.m, piece_of(block.m, grid_.n)}, {problem.k, block.k, plan.k_step}};
  w_ = {problem.groups, {problem.k, block.k, plan.k_step}, {problem.n, block.n, piece_of(block.n, grid_.m)}};
  y_ = {problem.groups, {problem.m, block.m, piece_of(block.m, grid_.k)}, {problem.n, block.n, block.n}};
  whole_y_ = {problem.groups, {problem.m, block.m, block.m}, {problem.n, block.n, block.n}};
}

unsigned Product::tile(const Place& at) const {
  return tile_of(grid_, plan_.outer, tiles_, at.group / plan_.block.groups, at.m, at.n, at.k);
}

std::vector<pando::TileBytes> Product::form(std::size_t bytes) const {
  std::vector<pando::TileBytes> form;
  const std::size_t count = grid_.count();
  for (std::size_t i = 0; i < count; ++i) form.push_back({static_cast<unsigned>(i * tiles_ / count), up(bytes, count)});
  return form;
}

Product::Place Product::place_of(std::size_t group, std::size_t row_block, std::size_t column_block, std::size_t part) const {
  switch (pass_) {
    case Pass::forward: return {group, row_block, column_block, part};
    case Pass::backward: return {group, row_block, part, column_block};
    default: return {group, part, column_block, row_block};
  }
}

// Pieces of an operand's block go to the tiles that need it, spread out; which of them is first differs from block to block.
Product::Mapping Product::map_x() const {
  Mapping mapping(tiles_);
  x_.for_each_piece(
      [&](std::size_t g, std::size_t y, std::size_t x, std::size_t py, std::size_t px, std::size_t begin, std::size_t elements) {
        const std::size_t steps = x_.columns.pieces(x);
        const std::size_t owner = ((py * steps + px) * grid_.n / (x_.rows.pieces(y) * steps) + y + x) % grid_.n;
        append(mapping[tile({g, y, owner, x})], begin, begin + elements);
      });
  return mapping;
}

Product::Mapping Product::map_w() const {
  Mapping mapping(tiles_);
  w_.for_each_piece(
      [&](std::size_t g, std::size_t y, std::size_t x, std::size_t py, std::size_t px, std::size_t begin, std::size_t elements) {
        const std::size_t steps = w_.rows.pieces(y);
        const std::size_t owner = ((px * steps + py) * grid_.m / (w_.columns.pieces(x) * steps) + y + x) % grid_.m;
        append(mapping[tile({g, owner, x, y})], begin, begin + elements);
      });
  return mapping;
}

Product::Mapping Product::map_y() const {
  Mapping mapping(tiles_);
  y_.for_each_piece([&](std::size_t g, std::size_t y, std::size_t x, std::size_t py, std::size_t, std::size_t begin, std::size_t elements) {
    const std::size_t owner = (py * grid_.k / y_.rows.pieces(y) + y + x) % grid_.k;
    append(mapping[tile({g, y, x, owner})], begin, begin + elements);
  });
  return mapping;
}

// The blocks of a tile's groups follow each other; the tiles that have parts of them share them out. New weights are kept as
// operands.
Product::Mapping Product::map_result() const {
  if (pass_ == Pass::update) return map_w();
  Mapping mapping(tiles_);
  const Layout& c = result();
  for (std::size_t y = 0; y < c.rows.blocks(); ++y)
    for (std::size_t x = 0; x < c.columns.blocks(); ++x)
      for (std::size_t g = 0; g < problem_.groups; g += plan_.block.groups) {
        const std::size_t groups = std::min(plan_.block.groups, problem_.groups - g), begin = c.block_at(g, y, x);
        const std::size_t size = groups * c.rows.extent(y) * c.columns.extent(x);
        const std::size_t share = up(up(size, parts_), 8) * 8;
        for (std::size_t part = 0; part * share < size; ++part)
          append(mapping[tile(place_of(g, y, x, part))], begin + part * share, begin + std::min(size, (part + 1) * share));
      }
  return mapping;
}

Product::Mapping Product::map_partials(std::size_t part) const {
  Mapping mapping(tiles_);
  const Layout& c = result();
  for (std::size_t y = 0; y < c.rows.blocks(); ++y)
    for (std::size_t x = 0; x < c.columns.blocks(); ++x)
      for (std::size_t g = 0; g < problem_.groups; ++g) {
        const std::size_t begin = c.block_at(g, y, x);
        append(mapping[tile(place_of(g, y, x, part))], begin, begin + c.rows.extent(y) * c.columns.extent(x));
      }
  return mapping;
}

Tensor Product::create(Graph& graph, const Layout& layout, const poplar::Type& type, const Mapping& mapping,
                       const poplar::DebugContext& debug) const {
  const Tensor flat = graph.addVariable(type, {layout.size()}, debug);
  graph.setTileMapping(flat, mapping);
  return from_flat(layout, flat);
}

Tensor Product::create_x(Graph& graph, const poplar::DebugContext& debug) const {
  return create(graph, x_, problem_.input, map_x(), debug);
}
Tensor Product::create_w(Graph& graph, const poplar::DebugContext& debug) const {
  return create(graph, w_, problem_.input, map_w(), debug);
}
Tensor Product::create_result(Graph& graph, const poplar::DebugContext& debug) const {
  return create(graph, result(), problem_.output, map_result(), debug);
}

Tensor flat_if_whole(const Graph& graph, const Layout& layout, const Tensor& t) {
  if (layout.size() == 0) return t.flatten();
  const std::size_t rows = layout.rows.piece_extent(0, 0), columns = layout.columns.piece_extent(0, 0);
  if (!t[0].slice({0, 0}, {rows, columns}).isContiguous()) return Tensor();
  const Tensor flat = to_flat(layout, t);
  return pieces_are_whole(graph, layout, flat) ? flat : Tensor();
}

namespace {

Tensor arrange(Graph& graph, const Layout& layout, const Graph::TileToTensorMapping& mapping, const Tensor& t,
               poplar::program::Sequence& prog, const poplar::DebugContext& debug) {
  const Tensor flat = flat_if_whole(graph, layout, t);
  if (flat.valid()) return flat;
  const Tensor copy = graph.addVariable(t.elementType(), {layout.size()}, debug);
  graph.setTileMapping(copy, mapping);
  prog.add(poplar::program::Copy(t, from_flat(layout, copy), false, debug));
  return copy;
}

}  // namespace

Tensor Product::arrange_first(Graph& graph, const Tensor& t, poplar::program::Sequence& prog, const poplar::DebugContext& debug) const {
  return arrange(graph, first(), pass_ == Pass::backward ? map_y() : map_x(), t, prog, {debug, "arranged"});
}
Tensor Product::arrange_second(Graph& graph, const Tensor& t, poplar::program::Sequence& prog, const poplar::DebugContext& debug) const {
  return arrange(graph, second(), pass_ == Pass::update ? map_y() : map_w(), t, prog, {debug, "arranged"});
}

std::vector<Tensor> Product::multiply(Graph& graph, const Tensor& first, const Tensor& second, poplar::program::Sequence& prog,
                                      const poplar::DebugContext& debug) const {
  std::vector<Tensor> partials;
  for (std::size_t part = 0; part < parts_; ++part) {
    partials.push_back(graph.addVariable(problem_.options.partials, {result().size()}, {debug, "partials"}));
    graph.setTileMapping(partials.back(), map_partials(part));
  }
  add_steps(graph, first, second, partials, Tensor(), prog, debug);
  return partials;
}

void Product::multiply_into(Graph& graph, const Tensor& first, const Tensor& second, const Tensor& result, const Tensor& scale,
                            poplar::program::Sequence& prog, const poplar::DebugContext& debug) const {
  add_steps(graph, first, second, {result}, scale, prog, debug);
}

void Product::add_steps(Graph& graph, const Tensor& first, const Tensor& second, const std::vector<Tensor>& result, const Tensor& scale,
                        poplar::program::Sequence& prog, const poplar::DebugContext& debug) const {
  const std::size_t steps = up(plan_.block.k, plan_.k_step);
  for (std::size_t step = 0; step < steps; ++step) {
    const poplar::ComputeSet set = graph.addComputeSet({debug, "multiply"});
    Place at{};
    for (at.k = 0; at.k < grid_.k; ++at.k) {
      if (step >= x_.columns.pieces(at.k)) continue;
      for (at.group = 0; at.group < problem_.groups; ++at.group)
        for (at.m = 0; at.m < grid_.m; ++at.m)
          for (at.n = 0; at.n < grid_.n; ++at.n)
            add_vertex(graph, at, step, first, second,
                       result[pass_ == Pass::forward    ? at.k
                              : pass_ == Pass::backward ? at.n
                                                        : at.m],
                       scale, set);
    }
    prog.add(poplar::program::Execute(set, debug));
  }
}

std::vector<Tensor> Product::x_pieces(const Tensor& x, const Place& at, std::size_t step) const {
  std::vector<Tensor> out;
  const std::size_t columns = x_.columns.piece_extent(at.k, step);
  for (std::size_t p = 0; p < x_.rows.pieces(at.m); ++p) {
    const std::size_t begin = x_.piece_at(at.group, at.m, at.k, p, step);
    out.push_back(x.slice(begin, begin + x_.rows.piece_extent(at.m, p) * columns));
  }
  return out;
}

std::vector<Tensor> Product::w_pieces(const Tensor& w, const Place& at, std::size_t step) const {
  std::vector<Tensor> out;
  const std::size_t rows = w_.rows.piece_extent(at.k, step);
  for (std::size_t p = 0; p < w_.columns.pieces(at.n); ++p) {
    const std::size_t begin = w_.piece_at(at.group, at.k, at.n, step, p);
    out.push_back(w.slice(begin, begin + rows * w_.columns.piece_extent(at.n, p)));
  }
  return out;
}

std::vector<Tensor> Product::y_pieces(const Tensor& y, const Place& at) const {
  std::vector<Tensor> out;
  for (std::size_t p = 0; p < y_.rows.pieces(at.m); ++p) {
    const std::size_t begin = y_.piece_at(at.group, at.m, at.n, p, 0);
    out.push_back(y.slice(begin, begin + y_.rows.piece_extent(at.m, p) * y_.columns.extent(at.n)));
  }
  return out;
}

void Product::add_vertex(Graph& graph, const Place& at, std::size_t step, const Tensor& first, const Tensor& second, const Tensor& result,
                         const Tensor& scale, poplar::ComputeSet set) const {
  const std::string types = "<" + problem_.input.toString() + "," + problem_.options.partials.toString();
  const auto m = static_cast<unsigned>(x_.rows.extent(at.m)), n = static_cast<unsigned>(w_.columns.extent(at.n));
  const auto k = static_cast<unsigned>(x_.columns.piece_extent(at.k, step));
  poplar::VertexRef v;
  if (pass_ == Pass::forward) {
    v = graph.addVertex(set, "poplin::BlockProduct" + types + (step > 0 ? ",true>" : ",false>"));
    graph.connect(v["a"], x_pieces(first, at, step));
    graph.connect(v["b"], w_pieces(second, at, step));
    const std::size_t begin = y_.block_at(at.group, at.m, at.n);
    graph.connect(v["c"], result.slice(begin, begin + std::size_t{m} * n));
  } else if (pass_ == Pass::backward) {
    v = graph.addVertex(set, "poplin::BackwardProduct" + types + ">");
    graph.connect(v["y"], y_pieces(first, at));
    graph.connect(v["w"], w_pieces(second, at, step));
    graph.connect(v["x"], x_pieces(result, at, step));
    graph.setInitialValue(v["n"], n);
  } else {
    v = graph.addVertex(set, (scale.valid() ? "poplin::UpdateProductInto" : "poplin::UpdateProduct") + types + ">");
    graph.connect(v["x"], x_pieces(first, at, step));
    graph.connect(v["y"], y_pieces(second, at));
    graph.connect(v["w"], w_pieces(result, at, step));
    graph.setInitialValue(v["m"], m);
    graph.setInitialValue(v["n"], n);
    if (scale.valid()) graph.connect(v["scale"], scale);
  }
  graph.setInitialValue(v["k"], k);
  graph.setTileMapping(v, tile(at));
}

}  // namespace poplin::internal::matmul
