#include "popops/Rearrange.hpp"

#include <algorithm>
#include <optional>

#include <pando/ownership.hpp>
#include <poputil/Util.hpp>

#include "poplibs/popops/data/parts.h"
#include "poplibs/work.h"

namespace popops::rearrange {

namespace {

using namespace poplar;
using internal::Mapping;
using internal::of_elements;
using internal::owners_of;
using internal::spread;
using poputil::GroupingInfo;
using program::Copy;
using program::Sequence;

std::string transpose_vertex(const Graph& graph, const Type& type) {
  return "popops::Transpose<" + internal::bits_type(graph.getTarget().getTypeSize(type)).toString() + ">";
}

void add_vertex(Graph& graph, const ComputeSet& cs, const std::string& vertex, unsigned tile, const std::vector<Tensor>& in,
                const std::vector<Tensor>& out, std::size_t rows, std::size_t columns) {
  const VertexRef v = graph.addVertex(cs, vertex);
  graph.setTileMapping(v, tile);
  graph.connect(v["in"], in);
  graph.connect(v["out"], out);
  graph.setInitialValue(v["rows"], static_cast<unsigned>(rows));
  graph.setInitialValue(v["columns"], static_cast<unsigned>(columns));
}

struct BlockSize {
  std::size_t rows, columns;  // of the matrix that is transposed
};

// How matrices are cut, a vertex for each block, so that all tiles have work. Strips of whole columns, whose results are whole rows,
// if there are enough of them or if rows must stay whole; else blocks, about square.
BlockSize block_size(const Target& target, std::size_t matrices, std::size_t rows, std::size_t columns, bool whole_rows) {
  const std::size_t wanted = std::size_t{target.getNumTiles()} * pando::poplibs::vertices_per_tile(target);
  const std::size_t strips = (wanted + matrices - 1) / matrices;
  const auto whole_groups = [](std::size_t n) { return n < 8 ? n : n / 8 * 8; };
  if (whole_rows || columns >= 8 * strips) {
    const std::size_t width = std::max((columns + strips - 1) / strips, (32 + rows - 1) / rows);
    return {rows, std::min(columns, columns >= 8 * strips ? (width + 7) / 8 * 8 : width)};
  }
  const std::size_t elements = std::max<std::size_t>(64, matrices * rows * columns / wanted);
  std::size_t side = 8;
  while ((side + 8) * (side + 8) <= elements) side += 8;
  const std::size_t width = std::min(columns, side);
  return {std::min(rows, std::max<std::size_t>(1, whole_groups(elements / width))), width};
}

// Transposes blocks of {matrices, rows, columns}, spread over the tiles in equal shares. The results lie block by block in `memory`,
// of one dimension; returns them as {matrices, columns, rows}.
Tensor transpose_blocks(Graph& graph, const ComputeSet& cs, const Tensor& in, const Tensor& memory, const BlockSize& size,
                        const std::string& vertex) {
  const std::size_t matrices = in.dim(0), rows = in.dim(1), columns = in.dim(2), tiles = graph.getTarget().getNumTiles();
  const std::size_t row_blocks = (rows + size.rows - 1) / size.rows, column_blocks = (columns + size.columns - 1) / size.columns;
  const std::size_t total = matrices * row_blocks * column_blocks;
  Mapping mapping(tiles);
  std::vector<Tensor> results, strips;
  std::size_t block = 0, at = 0;
  for (std::size_t m = 0; m < matrices; ++m) {
    const Tensor matrix = in[m];
    for (std::size_t c = 0; c < columns; c += size.columns) {
      const std::size_t c_end = std::min(columns, c + size.columns);
      const Tensor strip = matrix.slice(c, c_end, 1);
      strips.clear();
      for (std::size_t r = 0; r < rows; r += size.rows, ++block) {
        const std::size_t r_end = std::min(rows, r + size.rows), n = (r_end - r) * (c_end - c);
        const unsigned tile = static_cast<unsigned>(block * tiles / total);
        const Tensor result = memory.slice(at, at + n);
        mapping[tile].emplace_back(at, at + n);
        add_vertex(graph, cs, vertex, tile, {strip.slice(r, r_end).flatten()}, {result}, r_end - r, c_end - c);
        strips.push_back(result.reshape({c_end - c, r_end - r}));
        at += n;
      }
      results.push_back(strips.size() == 1 ? strips[0] : concat(strips, 1));
    }
  }
  graph.setTileMapping(memory, mapping);
  return concat(results).reshape({matrices, columns, rows});
}

// With `whole_rows`, the innermost dimension of the result is contiguous even if few tiles have work then.
Tensor transposed(Graph& graph, const Tensor& in, const ComputeSet& cs, bool whole_rows, const DebugContext& debug) {
  const unsigned last = static_cast<unsigned>(in.rank() - 1);
  const std::size_t rows = in.dim(last - 1), columns = in.dim(last), size = rows * columns;
  std::vector<std::size_t> shape = in.shape();
  std::swap(shape[last - 1], shape[last]);
  const Tensor memory = graph.addVariable(in.elementType(), {in.numElements()}, {debug, "transposed"});
  if (in.numElements() == 0) return memory.reshape(shape);
  const Target& target = graph.getTarget();
  const unsigned tiles = target.getNumTiles();
  const std::size_t matrices = in.numElements() / size;
  const Mapping blocks = spread(owners_of(graph, in.flatten(), size), tiles);
  const std::size_t busy =
      static_cast<std::size_t>(std::count_if(blocks.begin(), blocks.end(), [](const auto& list) { return !list.empty(); }));
  // Are tiles idle that could have 64 elements, or workers of the one tile of the CPU device?
  const std::size_t useful = std::min<std::size_t>(tiles, in.numElements() / 64);
  if (busy * 10 < useful * 9 || (tiles == 1 && matrices < pando::poplibs::vertices_per_tile(target))) {
    const Type& bits = internal::bits_type(target.getTypeSize(in.elementType()));
    const BlockSize block = block_size(target, matrices, rows, columns, whole_rows || tiles == 1);
    const Tensor result = transpose_blocks(graph, cs, in.reshape({matrices, rows, columns}).reinterpret(bits), memory.reinterpret(bits),
                                           block, transpose_vertex(graph, in.elementType()));
    return result.reinterpret(in.elementType()).reshape(shape);
  }
  graph.setTileMapping(memory, of_elements(blocks, size));
  const Tensor from = in.reshape({matrices, size}), to = memory.reshape({matrices, size});
  addTransposeVertices(
      graph, cs, in.elementType(), static_cast<unsigned>(rows), static_cast<unsigned>(columns), blocks,
      [&](std::size_t m) { return std::pair<const Tensor, const Tensor>(from[m], to[m]); }, debug);
  return memory.reshape(shape);
}

// Dimension of a grouping and its size, checked.
void check_grouping(const char* where, const Tensor& t, const GroupingInfo& grouping) {
  if (grouping.first < t.rank() && grouping.second != 0 && t.dim(grouping.first) % grouping.second == 0) return;
  internal::fail(where, "a grouping of " + std::to_string(grouping.second) + " elements of dimension " + std::to_string(grouping.first) +
                            " of a tensor of shape " + t.shapeToString());
}

// `t` with groups of dimension `grouping.first` as a new last dimension.
Tensor with_groups_last(const Tensor& t, const GroupingInfo& grouping) {
  const unsigned dim = grouping.first;
  const Tensor split = t.reshapePartial(dim, dim + 1, {t.dim(dim) / grouping.second, grouping.second});
  return split.dimRoll(dim + 1, static_cast<unsigned>(split.rank() - 1));
}

// Undoes with_groups_last.
Tensor without_groups(const Tensor& t, unsigned dim) {
  const Tensor split = t.dimRoll(static_cast<unsigned>(t.rank() - 1), dim + 1);
  return split.flatten(dim, dim + 2);
}

// A variable of that shape whose blocks of the last two dimensions (or the last, if `dims` is 1) are each on one tile.
Tensor blocked_variable(Graph& graph, const Tensor& like, unsigned dims, const DebugContext& debug) {
  const Tensor t = graph.addVariable(like.elementType(), like.shape(), debug);
  std::size_t size = 1;
  for (unsigned d = 0; d < dims; ++d) size *= like.dim(static_cast<unsigned>(like.rank() - 1 - d));
  if (t.numElements() == 0) return t;
  const Mapping blocks = spread(owners_of(graph, like.flatten(), size), graph.getTarget().getNumTiles());
  graph.setTileMapping(t.flatten(), of_elements(blocks, size));
  return t;
}

struct Regrouped {
  Tensor result;
  Copy copy;
};

Regrouped regroup(Graph& graph, const Tensor& t, const ComputeSet& cs, const GroupingInfo& from, const GroupingInfo& to,
                  const DebugContext& debug) {
  constexpr const char* where = "popops::rearrange::regroupTensor";
  check_grouping(where, t, from);
  check_grouping(where, t, to);
  if (from.first == to.first) {
    const Tensor groups = with_groups_last(t, to), copy = blocked_variable(graph, groups, 1, {debug, "regrouped"});
    return {without_groups(copy, to.first), Copy(groups, copy, false, {debug, "Regroup"})};
  }
  // {..., to.second, from.second}: the last dimension is contiguous now, the one before it shall be.
  const Tensor blocks = with_groups_last(with_groups_last(t, to), from), gathered = blocked_variable(graph, blocks, 2, {debug, "groups"});
  const Tensor groups = transposed(graph, gathered, cs, true, debug);
  const unsigned last = static_cast<unsigned>(groups.rank() - 1);
  return {without_groups(without_groups(groups.dimRoll(last, last - 1), from.first), to.first),
          Copy(blocks, gathered, false, {debug, "Regroup"})};
}

// The innermost grouping, if there is one.
std::optional<GroupingInfo> grouping_of(const Graph& graph, const Tensor& t) {
  const auto groupings = poputil::detectDimGroupings(graph, t);
  if (groupings.empty()) return std::nullopt;
  return groupings[0];
}

// From which grouping to which, if that is worth the while.
std::optional<std::pair<GroupingInfo, GroupingInfo>> beneficial(const Graph& graph, const Tensor& in,
                                                                const std::optional<GroupingInfo>& wanted) {
  const auto from = grouping_of(graph, in);
  if (!from || !wanted || from->first == wanted->first) return std::nullopt;
  // Groups of the wanted dimension must divide it.
  GroupingInfo to = *wanted;
  const unsigned grain = getMinimumRegroupGrainSize(in.elementType());
  if (in.dim(to.first) % to.second != 0) {
    unsigned common = to.second;
    while (in.dim(to.first) % common != 0) --common;
    to.second = common;
  }
  if (from->second % grain != 0 || to.second % grain != 0) return std::nullopt;
  return std::make_pair(*from, to);
}

std::optional<GroupingInfo> grouping_of_reference(const Graph& graph, const Tensor& in, const Tensor& ref) {
  internal::check_own("popops::rearrange::regroupIfBeneficial", graph, {&in, &ref});
  if (in.rank() != ref.rank())
    internal::fail("popops::rearrange::regroupIfBeneficial",
                   "the reference has shape " + ref.shapeToString() + "; expected the rank of " + in.shapeToString());
  return grouping_of(graph, ref);
}

Tensor regrouped(Graph& graph, const Tensor& t, const GroupingInfo& from, const GroupingInfo& to, Sequence& prog,
                 const DebugContext& debug) {
  const ComputeSet cs = graph.addComputeSet({debug, "Transpose"});
  const Tensor result = regroupTensor(graph, t, prog, cs, from, to, debug);
  prog.add(program::Execute(cs, {debug, "Transpose"}));
  return result;
}

}  // namespace

bool canUseFastTranspose(const Target& target, const Type& type, unsigned rows, unsigned columns, unsigned) {
  const std::size_t bytes = target.getTypeSize(type);
  if (bytes > 4) return false;
  const std::size_t block = 8 / bytes;
  return rows % block == 0 && columns % block == 0;
}

void addTransposeVertices(Graph& graph, const ComputeSet& cs, const Type& type, unsigned rows, unsigned cols, const Mapping& mapping,
                          std::function<std::pair<const Tensor, const Tensor>(std::size_t)> get, const DebugContext&) {
  constexpr const char* where = "popops::rearrange::addTransposeVertices";
  pando::require_own(graph, cs, where);
  const std::size_t size = static_cast<std::size_t>(rows) * cols;
  if (size == 0) return;
  const std::string vertex = transpose_vertex(graph, type);
  const Type& bits = internal::bits_type(graph.getTarget().getTypeSize(type));
  const unsigned least = static_cast<unsigned>(std::max<std::size_t>(1, 32 / size));
  for (unsigned tile = 0; tile < mapping.size(); ++tile) {
    if (mapping[tile].empty()) continue;
    for (const auto& part : poputil::splitRegionsBetweenWorkers(graph.getTarget(), mapping[tile], 1, least)) {
      std::vector<Tensor> in, out;
      for (const Interval& i : part)
        for (std::size_t m = i.begin(); m < i.end(); ++m) {
          const auto both = get(m);
          for (const Tensor* t : {&both.first, &both.second})
            if (t->numElements() != size || t->elementType() != type)
              internal::fail(where, "matrix " + std::to_string(m) + " is " + t->elementType().toString() + t->shapeToString() +
                                        "; expected " + std::to_string(size) + " elements of type " + type.toString());
          internal::check_writable(where, "a result", both.second);
          in.push_back(both.first.flatten().reinterpret(bits));
          out.push_back(both.second.flatten().reinterpret(bits));
        }
      if (!in.empty()) add_vertex(graph, cs, vertex, tile, in, out, rows, cols);
    }
  }
}

Tensor partialTranspose(Graph& graph, const Tensor& in, const ComputeSet& cs, const DebugContext& debug) {
  if (in.rank() < 2)
    internal::fail("popops::rearrange::partialTranspose", "a tensor of shape " + in.shapeToString() + "; expected two dimensions or more");
  return transposed(graph, in, cs, false, debug);
}

unsigned getMinimumRegroupGrainSize(const Type& type) {
  return static_cast<unsigned>(std::max<std::size_t>(1, 8 / Target().getTypeSize(type)));
}

Tensor regroupTensor(Graph& graph, const Tensor& t, Sequence& copies, const ComputeSet& cs, const GroupingInfo& from,
                     const GroupingInfo& to, const DebugContext& debug) {
  const Regrouped out = regroup(graph, t, cs, from, to, debug);
  copies.add(out.copy);
  return out.result;
}

Tensor regroupTensor(Graph& graph, const Tensor& t, std::vector<Copy>& copies, const ComputeSet& cs, const GroupingInfo& from,
                     const GroupingInfo& to, const DebugContext& debug) {
  const Regrouped out = regroup(graph, t, cs, from, to, debug);
  copies.push_back(out.copy);
  return out.result;
}

Tensor regroupIfPossible(Graph& graph, const Tensor& t, Sequence& prog, const GroupingInfo& to, const DebugContext& debug) {
  internal::check_own("popops::rearrange::regroupIfPossible", graph, {&t});
  const auto from = grouping_of(graph, t);
  if (!from || from->first == to.first || to.first >= t.rank() || to.second == 0 || t.dim(to.first) % to.second != 0) return t;
  return regrouped(graph, t, *from, to, prog, debug);
}

Tensor regroupIfBeneficial(Graph& graph, const Tensor& in, const Tensor& ref, Sequence& prog, const DebugContext& debug) {
  const auto both = beneficial(graph, in, grouping_of_reference(graph, in, ref));
  return both ? regrouped(graph, in, both->first, both->second, prog, debug) : in;
}

Tensor regroupIfBeneficial(Graph& graph, const Tensor& in, const Tensor& ref, std::vector<Copy>& copies, ComputeSet cs,
                           const DebugContext& debug) {
  pando::require_own(graph, cs, "popops::rearrange::regroupIfBeneficial");
  const auto both = beneficial(graph, in, grouping_of_reference(graph, in, ref));
  return both ? regroupTensor(graph, in, copies, cs, both->first, both->second, debug) : in;
}

Tensor regroupIfBeneficial(Graph& graph, const Tensor& in, std::size_t grouping, Sequence& prog, const DebugContext& debug) {
  internal::check_own("popops::rearrange::regroupIfBeneficial", graph, {&in});
  if (in.rank() == 0 || grouping == 0) return in;
  const auto both = beneficial(graph, in, GroupingInfo(static_cast<unsigned>(in.rank() - 1), static_cast<unsigned>(grouping)));
  return both ? regrouped(graph, in, both->first, both->second, prog, debug) : in;
}

}  // namespace popops::rearrange
