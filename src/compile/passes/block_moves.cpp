// Moves between a tensor and a block that has its elements in order: what the host sees.
//
// A matrix in blocks of rows: in the order of the tensor each row of a block is a move of its own, thousands for a layer's weights. In the
// order of memory a block is one shard, and its rows lie in the host's block at one step: one strided move.
#include <algorithm>
#include <optional>

#include "base/check.h"
#include "compile/communicate.h"
#include "compile/stretches.h"

namespace pando::compile {

namespace {

struct Loop {
  std::uint64_t size = 1, stride = 1;  // elements of the block
};

// A part of one variable without gaps, in the order of its memory: groups of `count` runs of `run` elements, and where in the block they
// are.
struct Nest {
  graph::Region region;
  std::vector<Loop> groups;  // innermost last
  std::uint64_t run = 1, count = 1, step = 0;
};

// The loops over a grid's elements, in the order of memory, as far as they do not continue each other in the block.
std::vector<Loop> loops_of(const graph::Shape& shape, const std::vector<unsigned>& order) {
  std::vector<std::uint64_t> strides(shape.size(), 1);
  for (std::size_t d = shape.size(); d-- > 1;) strides[d - 1] = strides[d] * shape[d];
  std::vector<Loop> loops;
  for (const unsigned d : order) {
    if (shape[d] == 1) continue;
    if (!loops.empty() && loops.back().stride == shape[d] * strides[d])
      loops.back() = {loops.back().size * shape[d], strides[d]};
    else
      loops.push_back({shape[d], strides[d]});
  }
  return loops;
}

std::optional<Nest> nest_of(const graph::View& view, std::uint64_t width) {
  const graph::View open = view.unfolded();
  std::vector<unsigned> reversed, order;
  Nest nest;
  if (view.num_elements() == 0 || !open.variable_order(reversed, order) || !reversed.empty()) return std::nullopt;
  if (!open.dim_shuffle(order).single_region(nest.region)) return std::nullopt;
  nest.groups = loops_of(open.shape(), order);
  if (nest.groups.size() < 2) return std::nullopt;
  const auto take = [&] {
    const Loop inner = nest.groups.back();
    nest.groups.pop_back();
    return inner;
  };
  if (nest.groups.back().stride == 1) nest.run = take().size;
  const Loop runs = take();
  nest.count = runs.size;
  nest.step = runs.stride;
  if (nest.run > kLongestStretch / width || nest.count > kLongestStretch) return std::nullopt;
  return nest;
}

// Calls sink(shard's address, place in the block, elements of a run, runs), both places in bytes, for what lies on one shard.
template <class Sink>
void each_piece(const Plan& plan, const Nest& nest, std::uint64_t width, Sink sink) {
  const std::vector<ShardInterval>& layout = plan.layout[nest.region.variable];
  const ShardInterval* here = &locate(plan, nest.region.variable, nest.region.elements.begin);
  std::vector<std::uint64_t> at(nest.groups.size(), 0);
  const std::uint64_t group = nest.run * nest.count;
  for (std::uint64_t begin = nest.region.elements.begin, base = 0; begin < nest.region.elements.end; begin += group) {
    for (std::uint64_t done = 0; done < group;) {
      const std::uint64_t element = begin + done;
      while (element >= here->elements.end) ++here;
      PANDO_CHECK(here <= &layout.back() && element >= here->elements.begin);
      const std::uint64_t fits = std::min(group - done, here->elements.end - element), column = done % nest.run;
      const bool whole = column == 0 && fits >= nest.run;
      const std::uint64_t n = whole ? nest.run : std::min(fits, nest.run - column), rows = whole ? fits / nest.run : 1;
      sink(Address{here->shard, here->local + (element - here->elements.begin) * width},
           (base + done / nest.run * nest.step + column) * width, n, rows);
      done += n * rows;
    }
    for (std::size_t d = nest.groups.size(); d-- > 0;) {
      base += nest.groups[d].stride;
      if (++at[d] < nest.groups[d].size) break;
      base -= nest.groups[d].stride * nest.groups[d].size;
      at[d] = 0;
    }
  }
}

// `to_block`, or from it.
std::vector<SymbolicMove> block_moves(const Plan& plan, const graph::View& view, ShardId block, std::uint64_t offset, bool to_block) {
  const std::uint64_t width = size_of(view.type());
  std::vector<SymbolicMove> moves;
  const auto add = [&](Address tile, std::int64_t tile_step, std::uint64_t in_block, std::int64_t block_step, std::uint64_t bytes,
                       std::uint64_t count) {
    SymbolicMove m{tile, {block, offset + in_block}, static_cast<std::uint32_t>(bytes), static_cast<std::uint32_t>(count), 0, 0};
    if (count > 1) m.source_step = tile_step, m.destination_step = block_step;
    if (!to_block) std::swap(m.source, m.destination), std::swap(m.source_step, m.destination_step);
    moves.push_back(m);
  };
  if (const std::optional<Nest> nest = nest_of(view, width)) {
    moves.reserve(nest->region.elements.size() == plan.graph.variables()[nest->region.variable].elements
                      ? plan.layout[nest->region.variable].size()
                      : 0);
    each_piece(plan, *nest, width, [&](Address tile, std::uint64_t in_block, std::uint64_t n, std::uint64_t rows) {
      add(tile, static_cast<std::int64_t>(n * width), in_block, static_cast<std::int64_t>(nest->step * width), n * width, rows);
    });
    return moves;
  }
  std::uint64_t in_block = 0;
  for (Cursor on_tiles(plan, view.runs()); !on_tiles.done();) {
    const Stretch s = on_tiles.peek(kLongestStretch);
    const bool whole = s.stride == 1 && s.count * width <= ~0u;
    add(s.at(width), s.step(width), in_block, static_cast<std::int64_t>(width), whole ? s.count * width : width, whole ? 1 : s.count);
    in_block += s.count * width;
    on_tiles.advance(s.count);
  }
  return moves;
}

}  // namespace

std::vector<SymbolicMove> moves_from_block(const Plan& plan, ShardId block, std::uint64_t offset, const graph::View& view) {
  return block_moves(plan, view, block, offset, false);
}

std::vector<SymbolicMove> moves_to_block(const Plan& plan, const graph::View& view, ShardId block, std::uint64_t offset) {
  return block_moves(plan, view, block, offset, true);
}

}  // namespace pando::compile
