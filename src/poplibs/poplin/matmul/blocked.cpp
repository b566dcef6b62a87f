#include "poplibs/poplin/matmul/blocked.h"

#include <popops/codelets.hpp>

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "poplibs/poplin/matmul/finish.h"
#include "poplibs/poplin/matmul/product.h"

namespace poplin::internal::matmul {
namespace {

using poplar::Graph;
using poplar::Interval;
using poplar::Tensor;
using poplar::program::Sequence;

// Heights of blocks, in the order of preference: the first that makes blocks for a quarter of the tiles, else the last. Lower ones would
// use more tiles, for more vertices with more operands each, whose descriptions and exchange code take what the tiles save.
constexpr std::size_t kHeights[] = {64, 32}, kQuarter = 4;
// Columns of a block; matrices of no more than kWhole columns are not cut, so that what works along rows finds them whole.
constexpr std::size_t kBlockColumns = 64, kWhole = 128;
// Fewer blocks of a result than kFewBlocks are a bad cut of more multiplications than kFewProducts.
constexpr std::size_t kFewBlocks = 24, kFewProducts = std::size_t{1} << 22;
// So are they of deeper products: each vertex has all blocks along the depth as operands.
constexpr std::size_t kDeepest = 8192;
// Rows of a band: its blocks' tiles follow each other column by column, so that threads that go from tile to tile meet the same operands.
constexpr std::size_t kBandRows = 512;
// A vertex's operands take a share of what the options allow a step of a product: what is around needs memory, too.
constexpr double kShare = 0.5;

// Matrices of other sizes begin elsewhere: else the first tile would have a block of each. Those of one size begin at the same tile of
// graphs that are rotated (begin.h).
std::size_t first_tile(const Blocks& b) { return 31 * up(b.groups * b.rows, 16) + 17 * up(b.columns, 16); }

unsigned tile_of_block(const Blocks& b, std::size_t tiles, std::size_t y, std::size_t x) {
  const std::size_t height = b.groups * b.of_rows(), width = b.of_columns(), most = std::max<std::size_t>(kBandRows / b.r, 1);
  const std::size_t band = y / most * most, rows = std::min(most, height - band);
  const std::size_t at = band * width + x * rows + (y - band);
  return static_cast<unsigned>((first_tile(b) + at * tiles / (height * width)) % tiles);
}

Graph::TileToTensorMapping map_blocks(const Blocks& b, std::size_t tiles) {
  Graph::TileToTensorMapping mapping(tiles);
  b.layout().for_each_piece([&](std::size_t, std::size_t y, std::size_t x, std::size_t, std::size_t, std::size_t begin,
                                std::size_t elements) { mapping[tile_of_block(b, tiles, y, x)].emplace_back(begin, begin + elements); });
  return mapping;
}

// An operand {groups, rows, columns} in whole blocks. `turned`: the flat tensor's blocks are in the order of the transposed matrix.
struct BlockedOperand {
  Tensor flat;
  Blocks blocks;
  bool turned = false;

  // The rows [from, to) of a block, counted from its group's first.
  Interval part(std::size_t g, std::size_t i, std::size_t j, std::size_t from, std::size_t to) const {
    const Blocks& b = blocks;
    const Layout order = turned ? Layout{1, {b.groups * b.columns, b.c, b.c}, {b.rows, b.r, b.r}} : b.layout();
    const std::size_t y = turned ? g * b.of_columns() + j : g * b.of_rows() + i, width = std::min(b.c, b.columns - j * b.c);
    const std::size_t begin = order.block_at(0, y, turned ? i : j) - i * b.r * width;
    return Interval(begin + from * width, begin + to * width);
  }
};

// The tensor's blocks of one of the heights, if they are whole.
BlockedOperand as_it_is(const Graph& graph, const Tensor& t, std::size_t tiles) {
  BlockedOperand found;
  found.blocks = blocks_of(t.dim(0), t.dim(1), t.dim(2), tiles);
  if (!found.blocks.valid()) return found;
  std::vector<std::size_t> heights = {found.blocks.r};
  for (const std::size_t h : kHeights)
    if (h != heights[0] && (t.dim(0) == 1 || t.dim(1) % h == 0)) heights.push_back(h);
  const Tensor rows = t.reshape({1, t.dim(0) * t.dim(1), t.dim(2)});
  for (const std::size_t h : heights) {
    found.blocks.r = std::min(h, t.dim(1));
    found.flat = flat_if_whole(graph, found.blocks.layout(), rows);
    if (found.flat.valid()) break;
  }
  return found;
}

// Each block of {groups, columns, rows} transposed on its tile.
BlockedOperand turn(Graph& graph, const BlockedOperand& from, Sequence& prog, const poplar::DebugContext& debug) {
  if (!graph.hasCodelet("popops::Transpose")) popops::addCodelets(graph);
  const Blocks& b = from.blocks;
  const poplar::Type type = from.flat.elementType(), bits = type == poplar::HALF ? poplar::UNSIGNED_SHORT : poplar::UNSIGNED_INT;
  const Tensor in = from.flat.reinterpret(bits), flat = graph.addVariable(type, {in.numElements()}, {debug, "transposed"});
  const auto mapping = graph.getTileMapping(from.flat);
  graph.setTileMapping(flat, mapping);
  std::vector<unsigned> tiles;
  std::vector<std::pair<std::size_t, std::size_t>> shapes;
  std::vector<Interval> intervals;
  std::vector<std::pair<std::size_t, unsigned>> begins;
  for (unsigned t = 0; t < mapping.size(); ++t)
    for (const Interval& i : mapping[t]) begins.emplace_back(i.begin(), t);
  std::sort(begins.begin(), begins.end());
  std::size_t next = 0;
  b.layout().for_each_piece(
      [&](std::size_t, std::size_t y, std::size_t x, std::size_t, std::size_t, std::size_t begin, std::size_t elements) {
        while (next + 1 < begins.size() && begins[next + 1].first <= begin) ++next;
        tiles.push_back(begins[next].second);
        shapes.emplace_back(b.layout().rows.extent(y), b.layout().columns.extent(x));
        intervals.emplace_back(begin, begin + elements);
      });
  const std::vector<Tensor> pieces = in.slices(intervals), results = flat.reinterpret(bits).slices(intervals);
  const poplar::ComputeSet set = graph.addComputeSet({debug, "transpose"});
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const poplar::VertexRef v = graph.addVertex(set, "popops::Transpose<" + bits.toString() + ">");
    graph.setTileMapping(v, tiles[i]);
    graph.connect(v["in"], std::vector<Tensor>{pieces[i]});
    graph.connect(v["out"], std::vector<Tensor>{results[i]});
    graph.setInitialValue(v["rows"], static_cast<unsigned>(shapes[i].first));
    graph.setInitialValue(v["columns"], static_cast<unsigned>(shapes[i].second));
  }
  prog.add(poplar::program::Execute(set, debug));
  return {flat, {b.groups, b.columns, b.rows, b.c, b.r}, true};
}

// As it is, or transposed as it is, or copied. Columns of blocks must fit those of the result: `columns`, or any if that is 0.
BlockedOperand operand_of(Graph& graph, const Tensor& t, std::size_t columns, Sequence& prog, const poplar::DebugContext& debug) {
  const std::size_t tiles = graph.getTarget().getNumTiles();
  BlockedOperand found = as_it_is(graph, t, tiles);
  if (found.flat.valid()) return found;
  const BlockedOperand other = as_it_is(graph, t.dimShuffle({0, 2, 1}), tiles);
  if (other.flat.valid() && (columns == 0 || columns % other.blocks.r == 0 || columns == t.dim(2))) return turn(graph, other, prog, debug);
  const Blocks blocks = blocks_of(t.dim(0), t.dim(1), t.dim(2), tiles);
  const Tensor copy = create_blocked(graph, t.elementType(), blocks, {debug, "arranged"});
  prog.add(poplar::program::Copy(t, copy, false, debug));
  return as_it_is(graph, copy, tiles);
}

struct Work {
  unsigned tile;
  std::size_t m, n, k, column;
  std::size_t a_begin, a_end, b_begin, b_end;  // among the pieces
  Interval c;
};

// The vertices of one step of k.
class Step {
 public:
  Step(Graph& graph, const Problem& problem, const BlockedOperand& a, const BlockedOperand& b, const Blocks& c)
      : graph_(graph), p_(problem), a_(a), b_(b), c_(c) {}

  // With `finish`: the last of the steps.
  void add(const Tensor& out, std::size_t from, std::size_t to, const FlatFinish* finish, poplar::ComputeSet set) {
    const std::size_t tiles = graph_.getTarget().getNumTiles();
    const Layout order = c_.layout();
    for (std::size_t g = 0; g < p_.groups; ++g)
      for (std::size_t y = 0; y < c_.of_rows(); ++y)
        for (std::size_t x = 0; x < c_.of_columns(); ++x) {
          const std::size_t row = g * c_.of_rows() + y, begin = order.block_at(0, row, x);
          Work w{tile_of_block(c_, tiles, row, x),
                 std::min(c_.r, p_.m - y * c_.r),
                 std::min(c_.c, p_.n - x * c_.c),
                 to - from,
                 x * c_.c,
                 a_pieces_.size(),
                 0,
                 b_pieces_.size(),
                 0,
                 Interval(0, 0)};
          w.c = Interval(begin, begin + w.m * w.n);
          append_a(g, y * c_.r, y * c_.r + w.m, from, to);
          append_b(g, x * c_.c, x * c_.c + w.n, from, to);
          w.a_end = a_pieces_.size(), w.b_end = b_pieces_.size();
          works_.push_back(w);
        }
    connect(out, from > 0, finish, set);
  }

 private:
  void append_a(std::size_t g, std::size_t row, std::size_t end, std::size_t from, std::size_t to) {
    for (std::size_t r = a_.blocks.r; row < end; row = (row / r + 1) * r)
      for (std::size_t j = from / a_.blocks.c; j * a_.blocks.c < to; ++j)
        a_pieces_.push_back(a_.part(g, row / r, j, row, std::min({end, (row / r + 1) * r, p_.m})));
  }
  void append_b(std::size_t g, std::size_t column, std::size_t end, std::size_t from, std::size_t to) {
    const Blocks& b = b_.blocks;
    for (std::size_t i = from / b.r; i * b.r < to; ++i)
      for (std::size_t j = column / b.c; j * b.c < end; ++j) b_pieces_.push_back(b_.part(g, i, j, i * b.r, std::min(p_.k, (i + 1) * b.r)));
  }

  void connect(const Tensor& out, bool accumulate, const FlatFinish* finish, poplar::ComputeSet set) {
    std::vector<Interval> results;
    for (const Work& w : works_) results.push_back(w.c);
    const std::vector<Tensor> a = a_.flat.slices(a_pieces_), b = b_.flat.slices(b_pieces_), c = out.slices(results);
    const auto part = [](const std::vector<Tensor>& from, std::size_t begin, std::size_t end) {
      return std::vector<Tensor>(from.begin() + static_cast<std::ptrdiff_t>(begin), from.begin() + static_cast<std::ptrdiff_t>(end));
    };
    const bool rounds = p_.output == poplar::HALF;
    const std::string vertex = (!finish  ? "poplin::BlockedProduct<" + p_.input.toString() + ","
                                : rounds ? "poplin::RoundedBlock<"
                                         : "poplin::FinishedBlock<") +
                               std::string(accumulate ? "true>" : "false>");
    std::vector<poplar::VertexRef> vertices;
    for (std::size_t i = 0; i < works_.size(); ++i) {
      const Work& w = works_[i];
      const poplar::VertexRef v = graph_.addVertex(set, vertex);
      graph_.setTileMapping(v, w.tile);
      graph_.connect(v["a"], part(a, w.a_begin, w.a_end));
      graph_.connect(v["b"], part(b, w.b_begin, w.b_end));
      graph_.connect(v["c"], c[i]);
      for (const auto& [field, value] : {std::pair("n", w.n), std::pair("k", w.k), std::pair("a_width", a_.blocks.c),
                                         std::pair("b_height", b_.blocks.r), std::pair("b_width", b_.blocks.c)})
        graph_.setInitialValue(v[field], static_cast<unsigned>(value));
      vertices.push_back(v);
    }
    if (finish) connect_finish(*finish, results, vertices);
  }

  void connect_finish(const FlatFinish& finish, const std::vector<Interval>& results, const std::vector<poplar::VertexRef>& vertices) {
    std::vector<std::vector<Tensor>> matrices, more;
    for (std::size_t i = 0; i < finish.operands.size(); ++i)
      matrices.push_back(finish.finish.operands[i].is_matrix ? finish.operands[i].slices(results) : std::vector<Tensor>());
    // Sums are of float: those of halfs have a place of their own.
    const bool rounds = p_.output == poplar::HALF;
    const std::vector<Tensor> first = rounds ? finish.results[0].slices(results) : std::vector<Tensor>();
    for (std::size_t r = 1; r < finish.results.size(); ++r) more.push_back(finish.results[r].slices(results));
    for (std::size_t w = 0; w < works_.size(); ++w) {
      std::vector<Tensor> operands, others;
      for (std::size_t i = 0; i < finish.operands.size(); ++i) {
        const bool is_row = finish.finish.operands[i].stride == kOneRow;
        const Tensor& t = finish.operands[i];
        operands.push_back(!matrices[i].empty() ? matrices[i][w] : is_row ? t.slice(works_[w].column, works_[w].column + works_[w].n) : t);
      }
      for (const auto& list : more) others.push_back(list[w]);
      graph_.connect(vertices[w]["operands"], operands);
      graph_.connect(vertices[w]["more"], others);
      if (rounds) graph_.connect(vertices[w]["out"], first[w]);
      set_words(graph_, vertices[w], words_for(finish.finish, works_[w].n));
    }
  }

  Graph& graph_;
  const Problem& p_;
  const BlockedOperand &a_, &b_;
  const Blocks& c_;
  std::vector<Interval> a_pieces_, b_pieces_;
  std::vector<Work> works_;
};

// Into `flat`, which is in the order of the result's blocks.
void add_steps(Graph& graph, const Problem& p, const Tensor& a, const Tensor& b, const Tensor& flat, const FlatFinish* finish,
               Sequence& prog, const poplar::DebugContext& debug) {
  const Blocks blocks = result_blocks(p, graph.getTarget());
  const BlockedOperand first = operand_of(graph, a, 0, prog, debug), second = operand_of(graph, b, blocks.c, prog, debug);
  const std::size_t k = blocked_step(p, graph.getTarget(), std::lcm(first.blocks.c, second.blocks.r));
  for (std::size_t from = 0; from < p.k; from += k) {
    const poplar::ComputeSet set = graph.addComputeSet({debug, "multiply"});
    const std::size_t to = std::min(p.k, from + k);
    Step(graph, p, first, second, blocks).add(flat, from, to, to == p.k ? finish : nullptr, set);
    prog.add(poplar::program::Execute(set, debug));
  }
}

// A new variable in the order of the blocks.
Tensor new_flat(Graph& graph, const poplar::Type& type, const Blocks& blocks, const poplar::DebugContext& debug) {
  const Tensor flat = graph.addVariable(type, {blocks.layout().size()}, debug);
  graph.setTileMapping(flat, map_blocks(blocks, graph.getTarget().getNumTiles()));
  return flat;
}

}  // namespace

Blocks blocks_of(std::size_t groups, std::size_t rows, std::size_t columns, std::size_t tiles) {
  Blocks b{groups, rows, columns, 0, columns <= kWhole ? columns : kBlockColumns};
  for (const std::size_t height : kHeights) {
    const std::size_t r = groups == 1 ? std::min(height, rows) : up(rows, up(rows, height));
    if (groups > 1 && rows % r != 0) continue;
    b.r = r;
    if (kQuarter * b.count() >= tiles) break;
  }
  return b;
}

Blocks result_blocks(const Problem& p, const poplar::Target& target) { return blocks_of(p.groups, p.m, p.n, target.getNumTiles()); }

unsigned tile_of_first_block(const Blocks& b, const poplar::Target& target) { return tile_of_block(b, target.getNumTiles(), 0, 0); }

std::vector<pando::TileBytes> form_of(const Blocks& b, const poplar::Target& target, std::size_t element_bytes, std::size_t share,
                                      std::size_t more) {
  std::vector<pando::TileBytes> form;
  b.layout().for_each_piece([&](std::size_t, std::size_t y, std::size_t x, std::size_t, std::size_t, std::size_t, std::size_t elements) {
    form.push_back({tile_of_block(b, target.getNumTiles(), y, x), elements * element_bytes / share + more});
  });
  return form;
}

bool is_blocked(const Problem& p, const poplar::Target& target) {
  const bool floats = p.input == poplar::FLOAT && p.output == poplar::FLOAT;
  if (!p.options.blocked || (!floats && p.input != poplar::HALF)) return false;
  const std::size_t tiles = target.getNumTiles();
  const Blocks c = result_blocks(p, target);
  if (!c.valid() || !blocks_of(p.groups, p.m, p.k, tiles).valid() || !blocks_of(p.groups, p.k, p.n, tiles).valid()) return false;
  return c.count() >= kFewBlocks || (p.k <= kDeepest && p.groups * p.m * p.n * p.k <= kFewProducts);
}

std::size_t blocked_step(const Problem& p, const poplar::Target& target, std::size_t grain) {
  const Blocks c = result_blocks(p, target);
  const double allowed = kShare * p.options.memory_proportion * static_cast<double>(target.getBytesPerTile());
  const double bytes = static_cast<double>((c.r + c.c) * p.k) * static_cast<double>(target.getTypeSize(p.input));
  const auto steps = static_cast<std::size_t>(bytes / std::max(allowed, 1.0)) + 1;
  return std::min(p.k, up(up(p.k, steps), grain) * grain);
}

Tensor create_blocked(Graph& graph, const poplar::Type& type, const Blocks& blocks, const poplar::DebugContext& debug) {
  return from_flat(blocks.layout(), new_flat(graph, type, blocks, debug)).reshape({blocks.groups, blocks.rows, blocks.columns});
}

Tensor multiply_blocked(Graph& graph, const Problem& p, const Tensor& a, const Tensor& b, Sequence& prog,
                        const poplar::DebugContext& debug) {
  const Blocks blocks = result_blocks(p, graph.getTarget());
  const Tensor flat = new_flat(graph, p.output, blocks, {debug, "out"});
  if (p.output == poplar::FLOAT) {
    add_steps(graph, p, a, b, flat, nullptr, prog, debug);
  } else {
    const Finish nothing;
    const FlatFinish rounding{nothing, {}, {flat}};
    add_steps(graph, p, a, b, new_flat(graph, poplar::FLOAT, blocks, {debug, "sums"}), &rounding, prog, debug);
  }
  return from_flat(blocks.layout(), flat).reshape({p.groups, p.m, p.n});
}

void multiply_and_finish_in_blocks(Graph& graph, const Problem& p, const Tensor& a, const Tensor& b, const Finish& finish,
                                   std::vector<Tensor>& outs, Sequence& prog, const poplar::DebugContext& debug) {
  const Blocks blocks = result_blocks(p, graph.getTarget());
  const auto rows = [&](const Tensor& t) { return t.reshape({1, p.groups * p.m, p.n}); };
  std::vector<Tensor> flat;
  std::vector<bool> is_new;
  for (const Tensor& t : outs) {
    flat.push_back(t.valid() ? flat_if_whole(graph, blocks.layout(), rows(t)) : Tensor());
    is_new.push_back(!flat.back().valid());
    if (is_new.back()) flat.back() = new_flat(graph, p.output, blocks, {debug, "out"});
  }
  const FlatFinish in_blocks = flat_finish(finish, blocks.layout(), flat);
  const Tensor sums = p.output == poplar::FLOAT ? flat[0] : new_flat(graph, poplar::FLOAT, blocks, {debug, "sums"});
  add_steps(graph, p, a, b, sums, &in_blocks, prog, debug);
  for (std::size_t r = 0; r < outs.size(); ++r) {
    if (!is_new[r]) continue;
    const Tensor shaped = from_flat(blocks.layout(), flat[r]).reshape({p.groups, p.m, p.n});
    if (outs[r].valid())
      prog.add(poplar::program::Copy(shaped, outs[r], false, debug));
    else
      outs[r] = shaped;
  }
}

void print_blocked(std::ostream& out, const Problem& p, const poplar::Target& target) {
  const Blocks b = result_blocks(p, target);
  out << "matrix product: " << p.groups << " x (" << p.m << " x " << p.k << ") * (" << p.k << " x " << p.n << "), " << p.input << " -> "
      << p.output << ", in blocks\n";
  out << "  blocks of the result: " << b.count() << " of " << b.r << " x " << b.c << " on "
      << std::min<std::size_t>(b.count(), target.getNumTiles()) << " of " << target.getNumTiles() << " tiles, k in steps of "
      << blocked_step(p, target, kBlockColumns) << '\n';
}

}  // namespace poplin::internal::matmul
