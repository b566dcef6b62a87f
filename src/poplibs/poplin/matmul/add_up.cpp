#include <algorithm>
#include <string>

#include "poplibs/poplin/matmul/finish.h"
#include "poplibs/poplin/matmul/product.h"
#include "poplibs/work.h"

namespace poplin::internal::matmul {
namespace {

using poplar::Graph;
using poplar::Interval;
using poplar::Tensor;

// Elements of a tile's vertex, at least; cuts are at multiples of kGrain elements of a run.
constexpr std::size_t kLeast = 64, kGrain = 8;

// The runs of one tile as lists of nearly equal size, one for each of its vertices.
std::vector<std::vector<Interval>> share_out(const std::vector<std::vector<Interval>>& runs, const poplar::Target& target) {
  const std::size_t most = pando::poplibs::vertices_per_tile(target), least = pando::poplibs::least_elements(target, kLeast);
  std::size_t total = 0;
  for (const auto& run : runs)
    for (const Interval& i : run) total += i.size();
  const std::size_t share = up(std::max(up(total, most), least), kGrain) * kGrain;
  std::vector<std::vector<Interval>> lists(1);
  std::size_t left = share;
  for (const auto& run : runs)
    for (Interval i : run)
      while (i.size() > 0) {
        if (left == 0) lists.emplace_back(), left = share;
        const std::size_t n = std::min<std::size_t>(left, i.size());
        lists.back().emplace_back(i.begin(), i.begin() + n);
        i = Interval(i.begin() + n, i.end());
        left -= n;
      }
  return lists;
}

Tensor part_of(const Tensor& flat, const std::vector<Interval>& list) {
  if (list.size() == 1) return flat.slice(list[0]);
  return poplar::concat(flat.slices(list));
}

// Elements of a layout that an epilogue's operands repeat a row over: `columns` of them from `column` on, beginning with number `from`.
struct RowPart {
  Interval elements;
  std::size_t column = 0, columns = 1, from = 0;
};

// Lists cut at the ends of the layout's pieces.
class PieceCuts {
 public:
  explicit PieceCuts(const Layout& layout) {
    layout.for_each_piece(
        [&](std::size_t, std::size_t, std::size_t x, std::size_t, std::size_t px, std::size_t begin, std::size_t elements) {
          pieces_.push_back({Interval(begin, begin + elements), layout.columns.begin(x) + px * layout.columns.piece,
                             layout.columns.piece_extent(x, px), 0});
        });
  }

  std::vector<RowPart> cut(const std::vector<Interval>& list) const {
    std::vector<RowPart> out;
    for (Interval i : list)
      while (i.size() > 0) {
        const auto next = std::upper_bound(pieces_.begin(), pieces_.end(), i.begin(),
                                           [](std::size_t at, const RowPart& p) { return at < p.elements.begin(); });
        const RowPart& piece = *std::prev(next);
        const std::size_t end = std::min(i.end(), piece.elements.end()), from = (i.begin() - piece.elements.begin()) % piece.columns;
        RowPart part{Interval(i.begin(), end), piece.column, piece.columns, from};
        // Of less than a row, only the columns that it has.
        if (from + part.elements.size() <= piece.columns) part = {part.elements, piece.column + from, part.elements.size(), 0};
        out.push_back(part);
        i = Interval(end, i.end());
      }
    return out;
  }

 private:
  std::vector<RowPart> pieces_;  // in order
};

}  // namespace

void add_up(Graph& graph, const std::vector<Tensor>& partials, const Tensor& out, const Tensor& scale, poplar::program::Sequence& prog,
            const poplar::DebugContext& debug) {
  const poplar::ComputeSet set = graph.addComputeSet({debug, "add_up"});
  const std::string types = partials[0].elementType().toString() + "," + out.elementType().toString();
  const std::string vertex = scale.valid() ? "poplin::SumPartialsInto<" + types + "," + scale.elementType().toString() + ">"
                                           : "poplin::SumPartials<" + types + ">";
  const Graph::TileToTensorMapping mapping = graph.getTileMapping(out);
  std::vector<Tensor> in(partials.size());
  for (unsigned tile = 0; tile < mapping.size(); ++tile) {
    if (mapping[tile].empty()) continue;
    for (const std::vector<Interval>& list : share_out(graph.getSortedContiguousRegions(out, mapping[tile]), graph.getTarget())) {
      for (std::size_t p = 0; p < in.size(); ++p) in[p] = part_of(partials[p], list);
      const poplar::VertexRef v = graph.addVertex(set, vertex);
      graph.setTileMapping(v, tile);
      graph.connect(v["in"], in);
      graph.connect(v["out"], part_of(out, list));
      if (scale.valid()) graph.connect(v["scale"], scale);
    }
  }
  prog.add(poplar::program::Execute(set, debug));
}

FlatFinish flat_finish(const Finish& finish, const Layout& layout, const std::vector<Tensor>& results) {
  FlatFinish flat{finish, {}, results};
  const std::vector<std::size_t> shape{layout.groups, layout.rows.size, layout.columns.size};
  for (const FinishOperand& o : finish.operands) flat.operands.push_back(o.is_matrix ? to_flat(layout, o.tensor.reshape(shape)) : o.tensor);
  return flat;
}

void add_up_and_finish(Graph& graph, const std::vector<Tensor>& partials, const Layout& layout, const FlatFinish& finish,
                       poplar::program::Sequence& prog, const poplar::DebugContext& debug) {
  const Tensor& out = finish.results[0];
  const poplar::ComputeSet set = graph.addComputeSet({debug, "add_up"});
  const auto& operands = finish.finish.operands;
  const bool has_rows =
      std::any_of(operands.begin(), operands.end(), [](const FinishOperand& o) { return !o.is_matrix && o.stride == kOneRow; });
  const PieceCuts cuts(layout);
  const auto add_vertex = [&](unsigned tile, const std::vector<Interval>& list, const RowPart& row) {
    const auto parts = [&](const std::vector<Tensor>& flat) {
      std::vector<Tensor> of;
      for (const Tensor& t : flat) of.push_back(part_of(t, list));
      return of;
    };
    std::vector<Tensor> read;
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const Tensor& t = finish.operands[i];
      const bool is_row = !operands[i].is_matrix && operands[i].stride == kOneRow;
      read.push_back(operands[i].is_matrix ? part_of(t, list) : is_row ? t.slice(row.column, row.column + row.columns) : t);
    }
    const poplar::VertexRef v = graph.addVertex(set, "poplin::FinishedSum");
    graph.setTileMapping(v, tile);
    graph.connect(v["in"], parts(partials));
    graph.connect(v["out"], part_of(out, list));
    graph.connect(v["operands"], read);
    graph.connect(v["more"], parts({finish.results.begin() + 1, finish.results.end()}));
    set_words(graph, v, words_for(finish.finish, row.columns, row.from));
  };
  const Graph::TileToTensorMapping mapping = graph.getTileMapping(out);
  for (unsigned tile = 0; tile < mapping.size(); ++tile) {
    if (mapping[tile].empty()) continue;
    for (const std::vector<Interval>& list : share_out(graph.getSortedContiguousRegions(out, mapping[tile]), graph.getTarget())) {
      if (!has_rows) add_vertex(tile, list, {});
      for (const RowPart& row : has_rows ? cuts.cut(list) : std::vector<RowPart>()) add_vertex(tile, {row.elements}, row);
    }
  }
  prog.add(poplar::program::Execute(set, debug));
}

}  // namespace poplin::internal::matmul
