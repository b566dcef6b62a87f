#include <algorithm>

#include "poplibs/popops/slice/split.h"
#include "poplibs/popops/slice/table.h"

namespace popops::internal {

using namespace poplar;
using program::Copy;
using program::Execute;
using program::Sequence;

namespace {

Tensor flat_rows(const Tensor& block, std::size_t begin, std::size_t end) { return block.slice(begin, end).flatten(); }

class LookUp {
 public:
  LookUp(Graph& graph, const Tensor& table, const Tensor& rows, const Grid& grid, const SliceProblem& problem, const DebugContext& debug)
      : graph_(graph),
        table_(table),
        rows_(rows),
        grid_(grid),
        problem_(problem),
        debug_(debug),
        n_(rows.numElements()),
        share_(grid.piece_rows(n_) * grid.share_pieces()) {}

  Tensor run(Sequence& prog) {
    const Tensor out = create_slices(graph_, table_.elementType(), grid_, n_, {debug_, "slices"});
    if (grid_.part.rows == 1) {
      find(prog, {out});
      return out;
    }
    std::vector<Tensor> partials;
    for (std::size_t r = 0; r < grid_.part.rows; ++r) partials.push_back(create_partials(r));
    find(prog, partials);
    select(prog, partials, out);
    return out;
  }

 private:
  // Like results, but all of share l lies on the tile of (r, l).
  Tensor create_partials(std::size_t r) {
    std::vector<Tensor> shares;
    for (std::size_t l = 0; l * share_ < n_; ++l) {
      Grid one = grid_;
      one.part.rows = one.part.lookups = 1;
      one.tiles.clear();
      for (std::size_t c = 0; c < grid_.blocks.size(); ++c) one.tiles.push_back(grid_.tile(c, r, l));
      shares.push_back(create_slices(graph_, table_.elementType(), one, std::min(share_, n_ - l * share_), {debug_, "partials"}));
    }
    return concat(shares);
  }

  std::vector<Tensor> table_operand(std::size_t c, std::size_t r) const {
    const std::size_t begin = r * grid_.part_rows(), end = std::min(grid_.rows, begin + grid_.part_rows()), chunk = grid_.chunk_rows();
    std::vector<Tensor> out;
    for (const Interval& b : grid_.blocks[c]) {
      const Tensor block = table_.slice(b, 1);
      for (std::size_t row = begin; row < end; row += chunk) out.push_back(flat_rows(block, row, std::min(end, row + chunk)));
    }
    return out;
  }

  // All parts look up their shares; results of row part r go to out[r].
  void find(Sequence& prog, const std::vector<Tensor>& out) {
    const ComputeSet cs = graph_.addComputeSet({debug_, "lookUp"});
    const Type type = table_.elementType();
    const std::string vertex = "popops::MultiSlice<" + type.toString() + ">";
    for (std::size_t r = 0; r < grid_.part.rows; ++r)
      for (std::size_t c = 0; c < grid_.blocks.size(); ++c) {
        const std::vector<Tensor> table = table_operand(c, r);
        std::vector<Tensor> columns;
        for (const Interval& b : grid_.blocks[c]) columns.push_back(out[r].slice(b, 1));
        const std::size_t chunks = table.size() / columns.size(), first = r * grid_.part_rows();
        for (std::size_t l = 0; l * share_ < n_; ++l) {
          const Interval share(l * share_, std::min(n_, (l + 1) * share_));
          for (const SliceWork& w :
               split_work(graph_.getTarget(), share, grid_.blocks[c], problem_.type_bytes, problem_.host, grid_.part.rows)) {
            const auto blocks = table.begin();
            const std::vector<Tensor> in(blocks + static_cast<std::ptrdiff_t>(w.first_block * chunks),
                                         blocks + static_cast<std::ptrdiff_t>(w.end_block * chunks));
            std::vector<Tensor> to;
            for (std::size_t b = w.first_block; b < w.end_block; ++b) to.push_back(flat_rows(columns[b], w.rows.begin(), w.rows.end()));
            const VertexRef v = graph_.addVertex(cs, vertex);
            graph_.connect(v["table"], in);
            graph_.connect(v["rows"], rows_.slice(w.rows));
            graph_.connect(v["out"], to);
            graph_.setInitialValue(v["firstRow"], static_cast<unsigned>(first));
            graph_.setInitialValue(v["numRows"], static_cast<unsigned>(std::min(grid_.rows - first, grid_.part_rows())));
            graph_.setInitialValue(v["chunkRows"], static_cast<unsigned>(grid_.chunk_rows()));
            graph_.setInitialValue(v["whole"], grid_.part.rows == 1);
            graph_.setTileMapping(v, grid_.tile(c, r, l));
          }
        }
      }
    prog.add(Execute(cs, {debug_}));
  }

  void select(Sequence& prog, const std::vector<Tensor>& partials, const Tensor& out) {
    const ComputeSet cs = graph_.addComputeSet({debug_, "select"});
    const Type type = table_.elementType();
    const std::string vertex = "popops::SelectSlices<" + type.toString() + ">";
    const std::size_t piece = grid_.piece_rows(n_);
    for (std::size_t c = 0; c < grid_.blocks.size(); ++c) {
      std::vector<Tensor> from, to;
      for (const Interval& b : grid_.blocks[c]) {
        to.push_back(out.slice(b, 1));
        for (const Tensor& p : partials) from.push_back(p.slice(b, 1));
      }
      for (std::size_t q = 0; q * piece < n_; ++q)
        for (const SliceWork& w : split_work(graph_.getTarget(), Interval(q * piece, std::min(n_, (q + 1) * piece)), grid_.blocks[c],
                                             problem_.type_bytes, problem_.host)) {
          std::vector<Tensor> in, results;
          for (std::size_t b = w.first_block; b < w.end_block; ++b) {
            results.push_back(flat_rows(to[b], w.rows.begin(), w.rows.end()));
            for (std::size_t p = 0; p < partials.size(); ++p)
              in.push_back(flat_rows(from[b * partials.size() + p], w.rows.begin(), w.rows.end()));
          }
          const VertexRef v = graph_.addVertex(cs, vertex);
          graph_.connect(v["partials"], in);
          graph_.connect(v["rows"], rows_.slice(w.rows));
          graph_.connect(v["out"], results);
          graph_.setInitialValue(v["numRows"], static_cast<unsigned>(grid_.rows));
          graph_.setInitialValue(v["partRows"], static_cast<unsigned>(grid_.part_rows()));
          graph_.setTileMapping(v, grid_.tile(c, q % grid_.share_pieces(), q / grid_.share_pieces()));
        }
    }
    prog.add(Execute(cs, {debug_}));
  }

  Graph& graph_;
  const Tensor table_, rows_;
  const Grid& grid_;
  const SliceProblem& problem_;
  const DebugContext& debug_;
  const std::size_t n_, share_;  // indices, and how many of them a share of the grid has
};

}  // namespace

std::vector<SliceWork> split_work(const Target& target, const Interval& rows, const Blocks& blocks, std::size_t type_bytes, bool host,
                                  std::size_t one_of) {
  constexpr std::size_t kLeastBytes = 128, kLeastBytesOfHost = 16384, kLeastRows = 4;
  std::size_t columns = 0;
  for (const Interval& b : blocks) columns += b.size();
  const std::size_t bytes = rows.size() * columns * type_bytes;
  const std::size_t most = pando::poplibs::vertices_per_tile(target);
  const std::size_t parts =
      std::clamp<std::size_t>(host ? bytes / one_of / kLeastBytesOfHost : std::max(bytes / kLeastBytes, rows.size() / 32), 1, most);
  const std::size_t row_parts = std::clamp<std::size_t>(rows.size() / kLeastRows, 1, parts);
  const std::size_t block_parts = std::min(blocks.size(), parts / row_parts);
  std::vector<SliceWork> out;
  for (std::size_t i = 0; i < row_parts; ++i)
    for (std::size_t k = 0; k < block_parts; ++k) {
      const Interval part(rows.begin() + rows.size() * i / row_parts, rows.begin() + rows.size() * (i + 1) / row_parts);
      out.push_back({part, blocks.size() * k / block_parts, blocks.size() * (k + 1) / block_parts});
    }
  return out;
}

Tensor rows_in_place(Graph& graph, const Tensor& rows, const Grid& grid, Sequence& prog, const DebugContext& debug) {
  const std::size_t n = rows.numElements();
  if (rows.isContiguous() && graph.getTileMapping(rows) == rows_mapping(graph, grid, n)) return rows;
  const Tensor here = create_rows(graph, grid, n, {debug, "rows"});
  prog.add(Copy(rows, here, false, {debug}));
  return here;
}

Tensor look_up(Graph& graph, const Tensor& table, const Tensor& rows, Sequence& prog, const Grid& grid, const SliceProblem& problem,
               const DebugContext& debug) {
  const std::size_t n = rows.numElements();
  if (n == 0 || grid.columns == 0)
    return graph.addVariable(table.elementType(), {n, grid.columns}, VariableMappingMethod::LINEAR, {debug, "slices"});
  Tensor source = as_bits(graph, table);
  if (!in_place(graph, table, grid)) {
    source = create_table(graph, source.elementType(), grid, {debug, "table"});
    prog.add(Copy(as_bits(graph, table), source, false, {debug}));
  }
  const std::size_t round = lookups_per_round(graph.getTarget(), problem, grid.part);
  std::vector<Tensor> out;
  for (std::size_t begin = 0; begin < n; begin += round) {
    const Tensor some = rows_in_place(graph, rows.slice(begin, std::min(n, begin + round)), grid, prog, debug);
    out.push_back(LookUp(graph, source, some, grid, problem, debug).run(prog));
  }
  const Tensor result = out.size() == 1 ? out[0] : concat(out);
  return result.elementType() == table.elementType() ? result : result.reinterpret(table.elementType());
}

bool in_place(const Graph& graph, const Tensor& table, const Grid& grid) {
  return grid.found || graph.getTarget().getNumTiles() == 1 || has_layout(graph, table, grid);
}

}  // namespace popops::internal
