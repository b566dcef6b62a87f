#include "graph/views/view_node.h"

#include <algorithm>
#include <unordered_map>

#include "base/check.h"
#include "base/error.h"
#include "graph/views/view_walk.h"

namespace pando::graph {

namespace {

// A longer chain of chains is copied into one flat chain: t = concat(t, x) in a loop must neither nest without end nor copy
// all of t every time.
constexpr unsigned kMaxDepth = 48, kDeepest = 128;
constexpr std::size_t kAlwaysSplice = 16;

bool is_contiguous(const std::vector<Dim>& coalesced) { return coalesced.empty() || (coalesced.size() == 1 && coalesced[0].stride == 1); }

unsigned depth_of(const Source& source) { return source.chain ? source.chain->depth : 0; }

// How much of a chain that is a part of the new one is copied into it: nothing, its extents, or also the extents of those.
enum class Splice { nothing, extents, everything };

class ChainBuilder {
 public:
  explicit ChainBuilder(Splice how) : how_(how) {}

  void add(const Strided& block) {
    std::vector<Dim> dims = coalesce(block.dims);
    const std::uint64_t n = elements_of(dims);
    if (is_contiguous(dims) && block.source.variable.valid()) {
      add_elements(block.source.variable, static_cast<std::uint64_t>(block.offset), n);
      return;
    }
    if (is_contiguous(dims) && how_ != Splice::nothing) {
      splice(*block.source.chain, static_cast<std::uint64_t>(block.offset), n);
      return;
    }
    add_block(std::make_shared<const Strided>(Strided{block.source, block.offset, std::move(dims)}), 0, n);
  }

  std::shared_ptr<const Chain> finish() { return std::make_shared<const Chain>(std::move(chain_)); }

 private:
  void add_elements(VariableId variable, std::uint64_t offset, std::uint64_t n) {
    if (!chain_.extents.empty()) {
      const Extent& last = chain_.extents.back();
      if (last.variable == variable && last.offset + (chain_.size - last.start) == offset) {
        chain_.size += n;
        return;
      }
    }
    chain_.extents.push_back({chain_.size, variable, offset, nullptr});
    chain_.size += n;
  }

  void add_block(std::shared_ptr<const Strided> block, std::uint64_t offset, std::uint64_t n) {
    chain_.depth = std::max(chain_.depth, 1 + depth_of(block->source));
    chain_.extents.push_back({chain_.size, VariableId(), offset, std::move(block)});
    chain_.size += n;
  }

  void splice(const Chain& from, std::uint64_t begin, std::uint64_t n) {
    const std::uint64_t end = begin + n;
    for (std::size_t i = from.find(begin); begin < end; ++i) {
      const Extent& extent = from.extents[i];
      const std::uint64_t upto = std::min(end, from.end_of(i));
      const std::uint64_t offset = extent.offset + (begin - extent.start);
      if (extent.variable.valid())
        add_elements(extent.variable, offset, upto - begin);
      else if (how_ == Splice::everything && is_contiguous(extent.block->dims) && extent.block->source.chain)
        splice(*extent.block->source.chain, static_cast<std::uint64_t>(extent.block->offset) + offset, upto - begin);
      else
        add_block(extent.block, offset, upto - begin);
      begin = upto;
    }
  }

  Splice how_;
  Chain chain_;
};

// The coordinate and step of each dimension of a block that a grid over the block's flat order would have.
struct Placement {
  std::int64_t coordinate = 0, low = 0, high = 0;
};

// Moves a grid over the flat order of `block` (starting at flat position `local`) onto the block's source, if every dimension
// of the grid moves along one dimension of the block and no step carries into the next.
bool rebase(Strided& grid, const Strided& block, std::uint64_t local) {
  const std::size_t rank = block.dims.size();
  std::vector<std::uint64_t> inner(rank);  // elements in one step of the dimension
  std::vector<Placement> places(rank);
  std::uint64_t n = 1;
  for (std::size_t k = rank; k-- > 0;) {
    inner[k] = n;
    places[k].coordinate = static_cast<std::int64_t>(local / n % block.dims[k].size);
    n *= block.dims[k].size;
  }
  std::int64_t offset = block.offset;
  for (std::size_t k = 0; k < rank; ++k) offset += places[k].coordinate * block.dims[k].stride;

  std::vector<Dim> dims = grid.dims;
  for (Dim& d : dims) {
    if (d.size == 1 || d.stride == 0) continue;
    const auto distance = static_cast<std::uint64_t>(d.stride < 0 ? -d.stride : d.stride);
    std::size_t k = 0;
    while (k < rank && inner[k] > distance) ++k;
    if (k == rank || distance % inner[k] != 0) return false;
    const std::int64_t step = d.stride / static_cast<std::int64_t>(inner[k]);
    const std::int64_t reach = step * static_cast<std::int64_t>(d.size - 1);
    (reach < 0 ? places[k].low : places[k].high) += reach;
    d.stride = step * block.dims[k].stride;
  }
  for (std::size_t k = 0; k < rank; ++k) {
    const Placement& p = places[k];
    if (p.coordinate + p.low < 0 || p.coordinate + p.high >= static_cast<std::int64_t>(block.dims[k].size)) return false;
  }
  grid.source = Source(block.source);
  grid.offset = offset;
  grid.dims = std::move(dims);
  return true;
}

}  // namespace

std::size_t Chain::find(std::uint64_t position) const {
  auto after =
      std::upper_bound(extents.begin(), extents.end(), position, [](std::uint64_t p, const Extent& extent) { return p < extent.start; });
  return static_cast<std::size_t>(after - extents.begin()) - 1;
}

std::uint64_t elements_of(const std::vector<Dim>& dims) {
  std::uint64_t n = 1;
  for (const Dim& d : dims) n *= d.size;
  return n;
}

std::vector<Dim> row_major(const Shape& shape) {
  std::vector<Dim> dims(shape.size());
  std::int64_t stride = 1;
  for (std::size_t d = shape.size(); d-- > 0;) {
    dims[d] = {shape[d], stride};
    stride *= static_cast<std::int64_t>(shape[d]);
  }
  return dims;
}

namespace {

VariableId only_variable(const Source& source, int& looks) {
  if (source.variable.valid()) return source.variable;
  VariableId only;
  for (const Extent& e : source.chain->extents) {
    if (--looks < 0) return {};
    const VariableId v = e.variable.valid() ? e.variable : only_variable(e.block->source, looks);
    if (!v.valid() || (only.valid() && only != v)) return {};
    only = v;
  }
  return only;
}

}  // namespace

VariableId only_variable(const Source& source) {
  int looks = 16;
  return only_variable(source, looks);
}

bool is_row_major(const std::vector<Dim>& dims) {
  std::int64_t stride = 1;
  for (std::size_t d = dims.size(); d-- > 0;) {
    if (dims[d].size == 1) continue;
    if (dims[d].stride != stride) return false;
    stride *= static_cast<std::int64_t>(dims[d].size);
  }
  return true;
}

std::vector<Dim> coalesce(const std::vector<Dim>& dims) {
  std::vector<Dim> out;
  out.reserve(dims.size());
  for (const Dim& d : dims) {
    if (d.size == 1) continue;
    if (!out.empty() && out.back().stride == d.stride * static_cast<std::int64_t>(d.size))
      out.back() = {out.back().size * d.size, d.stride};
    else
      out.push_back(d);
  }
  return out;
}

Strided in_source_order(const Strided& grid, bool* repeated) {
  Strided out{grid.source, grid.offset, {}};
  for (const Dim& d : grid.dims) {
    if (d.size == 1) continue;
    if (d.stride == 0) {
      *repeated = true;
      continue;
    }
    if (d.stride < 0) out.offset += d.stride * static_cast<std::int64_t>(d.size - 1);
    out.dims.push_back({d.size, d.stride < 0 ? -d.stride : d.stride});
  }
  std::sort(out.dims.begin(), out.dims.end(),
            [](const Dim& a, const Dim& b) { return std::pair(a.stride, a.size) > std::pair(b.stride, b.size); });
  out.dims = coalesce(out.dims);
  return out;
}

void settle(Strided& grid) {
  while (grid.source.chain) {
    std::int64_t low = grid.offset, high = grid.offset;
    for (const Dim& d : grid.dims) {
      const std::int64_t reach = d.stride * static_cast<std::int64_t>(d.size - 1);
      (reach < 0 ? low : high) += reach;
    }
    const std::shared_ptr<const Chain> chain = grid.source.chain;
    PANDO_CHECK(low >= 0 && high < static_cast<std::int64_t>(chain->size));
    const std::size_t i = chain->find(static_cast<std::uint64_t>(low));
    if (high >= static_cast<std::int64_t>(chain->end_of(i))) return;
    const Extent& extent = chain->extents[i];
    const std::uint64_t local = extent.offset + (static_cast<std::uint64_t>(grid.offset) - extent.start);
    if (!extent.variable.valid()) {
      if (!rebase(grid, *extent.block, local)) return;
      continue;
    }
    grid.source = {extent.variable, nullptr};
    grid.offset = static_cast<std::int64_t>(local);
  }
}

namespace {

// Of the elements' runs, without any chain below. Blocks that are no grids of a variable nest with each operation; walking them recurs.
std::shared_ptr<const Chain> flat_chain(const std::vector<Strided>& blocks) {
  constexpr std::size_t kMostRuns = std::size_t{1} << 22;
  ChainBuilder builder(Splice::nothing);
  std::size_t runs = 0;
  Joiner joiner([&](const Run& run) {
    if (++runs > kMostRuns)
      fail(ErrorKind::tensor_creation_error, "too-deep", "a tensor is made by a chain of more than {} operations, of more than {} pieces",
           kDeepest, kMostRuns);
    builder.add({{run.variable, nullptr}, static_cast<std::int64_t>(run.offset), {{run.count, run.stride}}});
    return true;
  });
  Walker walker([&](VariableId v, std::uint64_t offset, std::int64_t stride, std::uint64_t n) { return joiner.add(v, offset, stride, n); },
                false);
  for (const Strided& block : blocks) {
    const Strided grid{block.source, block.offset, coalesce(block.dims)};
    walker.range(grid, 0, elements_of(grid.dims));
  }
  joiner.finish();
  return builder.finish();
}

}  // namespace

std::shared_ptr<const Chain> make_chain(const std::vector<Strided>& blocks) {
  unsigned depth = 0;
  std::size_t extents = 0;
  for (const Strided& b : blocks) {
    depth = std::max(depth, depth_of(b.source));
    if (b.source.chain) extents = std::max(extents, b.source.chain->extents.size());
  }
  if (depth >= kDeepest) return flat_chain(blocks);
  ChainBuilder builder(depth >= kMaxDepth                             ? Splice::everything
                       : extents <= kAlwaysSplice + 2 * blocks.size() ? Splice::extents
                                                                      : Splice::nothing);
  for (const Strided& b : blocks) builder.add(b);
  return builder.finish();
}

bool try_extend(Strided& grid, const Strided& next) {
  if (grid.source != next.source) return false;
  bool more_than_one = false;
  for (std::size_t d = 1; d < grid.dims.size(); ++d) {
    if (grid.dims[d].size == 1) continue;
    if (grid.dims[d].stride != next.dims[d].stride) return false;
    more_than_one = true;
  }
  Dim& a = grid.dims[0];
  const Dim& b = next.dims[0];
  // Two single elements fit any stride; taking it would bind the first of a long run to the last of another.
  const std::int64_t apart = next.offset - grid.offset;
  if (a.size == 1 && b.size == 1 && !more_than_one && apart != 1) return false;
  const std::int64_t stride = a.size > 1 ? a.stride : b.size > 1 ? b.stride : apart;
  if (b.size > 1 && b.stride != stride) return false;
  if (apart != stride * static_cast<std::int64_t>(a.size)) return false;
  a = {a.size + b.size, stride};
  return true;
}

namespace {

// A chain may be part of another one many times: each is renamed once.
class Renaming {
 public:
  explicit Renaming(const std::function<VariableId(VariableId)>& to) : to_(to) {}

  Source operator()(const Source& source) {
    if (!source.chain) return {to_(source.variable), nullptr};
    if (const auto it = done_.find(source.chain.get()); it != done_.end()) return {VariableId(), it->second};
    std::shared_ptr<const Chain> chain = renamed(*source.chain);
    done_.emplace(source.chain.get(), chain);
    return {VariableId(), std::move(chain)};
  }

 private:
  std::shared_ptr<const Chain> renamed(const Chain& from) {
    Chain chain = from;
    for (Extent& e : chain.extents) {
      if (!e.block) {
        e.variable = to_(e.variable);
        continue;
      }
      Strided block = *e.block;
      block.source = (*this)(block.source);
      e.block = std::make_shared<const Strided>(std::move(block));
    }
    return std::make_shared<const Chain>(std::move(chain));
  }

  const std::function<VariableId(VariableId)>& to_;
  std::unordered_map<const Chain*, std::shared_ptr<const Chain>> done_;  // looked up, never iterated
};

}  // namespace

Source renamed(const Source& source, const std::function<VariableId(VariableId)>& to) { return Renaming(to)(source); }

}  // namespace pando::graph
