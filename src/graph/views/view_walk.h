// Walking a view's grids and chains, and joining what comes out into runs. Private to view*.cpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "graph/views/view_node.h"

namespace pando::graph {

// Walks grids and chains. `emit(variable, offset, stride, count)` gets the extents in order as the structure gives them, and
// returns false to stop.
template <class Emit>
class Walker {
 public:
  // `any_order`: whole blocks may come in the order of their source.
  Walker(Emit emit, bool any_order) : emit_(std::move(emit)), any_order_(any_order) {}

  // The flat elements [begin, end) of a coalesced grid. False if stopped.
  bool range(const Strided& grid, std::uint64_t begin, std::uint64_t end) {
    if (begin >= end) return true;
    if (grid.dims.empty()) return line(grid.source, grid.offset, 1, 1);
    const Dim& inner = grid.dims.back();
    std::uint64_t column = begin % inner.size;
    std::int64_t start = grid.offset;
    if (grid.dims.size() == 1)
      return line(grid.source, start + static_cast<std::int64_t>(column) * inner.stride, inner.stride, end - begin);

    const std::size_t outer = grid.dims.size() - 1;
    std::vector<std::uint64_t> at(outer);  // coordinates of the row
    std::uint64_t row = begin / inner.size;
    for (std::size_t d = outer; d-- > 0;) {
      at[d] = row % grid.dims[d].size;
      row /= grid.dims[d].size;
      start += static_cast<std::int64_t>(at[d]) * grid.dims[d].stride;
    }
    for (;;) {
      const std::uint64_t n = std::min(inner.size - column, end - begin);
      if (!line(grid.source, start + static_cast<std::int64_t>(column) * inner.stride, inner.stride, n)) return false;
      begin += n;
      if (begin == end) return true;
      column = 0;
      std::size_t d = outer - 1;
      while (++at[d] == grid.dims[d].size) {
        start -= static_cast<std::int64_t>(grid.dims[d].size - 1) * grid.dims[d].stride;
        at[d--] = 0;
      }
      start += grid.dims[d].stride;
    }
  }

  bool repeated() const { return repeated_; }

 private:
  bool line(const Source& source, std::int64_t start, std::int64_t stride, std::uint64_t count) {
    if (source.variable.valid()) return emit_(source.variable, static_cast<std::uint64_t>(start), stride, count);
    const Chain& chain = *source.chain;
    std::size_t i = chain.find(static_cast<std::uint64_t>(start));
    for (;;) {
      const std::uint64_t at = static_cast<std::uint64_t>(start) - chain.extents[i].start;
      const std::uint64_t size = chain.end_of(i) - chain.extents[i].start;
      std::uint64_t n = count;
      if (stride > 0) n = (size - 1 - at) / static_cast<std::uint64_t>(stride) + 1;
      if (stride < 0) n = at / static_cast<std::uint64_t>(-stride) + 1;
      n = std::min(n, count);
      if (!extent_line(chain.extents[i], size, at, stride, n)) return false;
      count -= n;
      if (count == 0) return true;
      start += stride * static_cast<std::int64_t>(n);
      // The next extent is nearly always the neighbour.
      if (stride > 0 && static_cast<std::uint64_t>(start) < chain.end_of(i + 1))
        ++i;
      else if (stride < 0 && static_cast<std::uint64_t>(start) >= chain.extents[i - 1].start)
        --i;
      else
        i = chain.find(static_cast<std::uint64_t>(start));
    }
  }

  bool extent_line(const Extent& extent, std::uint64_t size, std::uint64_t at, std::int64_t stride, std::uint64_t count) {
    if (extent.variable.valid()) return emit_(extent.variable, extent.offset + at, stride, count);
    const Strided& block = *extent.block;
    if (any_order_ && (stride == 1 || stride == -1) && count == size && count == elements_of(block.dims)) {
      const Strided sorted = in_source_order(block, &repeated_);
      return range(sorted, 0, elements_of(sorted.dims));
    }
    return block_line(block, extent.offset + at, stride, count);
  }

  // Flat elements at, at + stride, ... of a block.
  bool block_line(const Strided& block, std::uint64_t at, std::int64_t stride, std::uint64_t count) {
    if (stride == 1) return range(block, at, at + count);
    if (stride == -1) return backwards(block, at, count);
    while (count > 0) {
      std::int64_t step = 0;
      std::uint64_t n = stride == 0 ? count : 1;
      const std::int64_t start = locate(block, at, stride, count, step, n);
      if (!line(block.source, start, step, n)) return false;
      count -= n;
      at += static_cast<std::uint64_t>(stride * static_cast<std::int64_t>(n));
    }
    return true;
  }

  // The source position of flat element `at`, and how many steps of `stride` from there stay on one line of the source.
  std::int64_t locate(const Strided& block, std::uint64_t at, std::int64_t stride, std::uint64_t count, std::int64_t& step,
                      std::uint64_t& n) {
    std::int64_t position = block.offset;
    std::uint64_t inner = 1;  // elements in one step of dimension d
    const auto distance = static_cast<std::uint64_t>(stride < 0 ? -stride : stride);
    for (std::size_t d = block.dims.size(); d-- > 0;) {
      const Dim& dim = block.dims[d];
      const std::uint64_t here = at / inner % dim.size;
      position += static_cast<std::int64_t>(here) * dim.stride;
      if (stride != 0 && distance % inner == 0 && distance / inner < dim.size) {
        const std::uint64_t by = distance / inner;
        n = std::min(count, (stride > 0 ? dim.size - 1 - here : here) / by + 1);
        step = stride / static_cast<std::int64_t>(inner) * dim.stride;
      }
      inner *= dim.size;
    }
    return position;
  }

  bool backwards(const Strided& block, std::uint64_t at, std::uint64_t count) {
    Strided mirror = block;
    for (Dim& d : mirror.dims) {
      mirror.offset += d.stride * static_cast<std::int64_t>(d.size - 1);
      d.stride = -d.stride;
    }
    const std::uint64_t begin = elements_of(block.dims) - 1 - at;
    return range(mirror, begin, begin + count);
  }

  Emit emit_;
  bool any_order_;
  bool repeated_ = false;
};

// Joins extents into maximal runs. The result depends on the elements alone, not on how they were cut: it is as if each element
// came by itself and either went on with the run, or began a new one. A pair that only happens to stand next to each other
// gives up its second element to a contiguous run that begins with it.
template <class Sink>
class Joiner {
 public:
  explicit Joiner(Sink sink) : sink_(std::move(sink)) {}

  bool add(VariableId variable, std::uint64_t offset, std::int64_t stride, std::uint64_t count) {
    // After three elements of it the open run has its stride.
    const std::uint64_t singly = std::min<std::uint64_t>(count, 3);
    for (std::uint64_t i = 0; i < singly; ++i)
      if (!add_one(variable, offset + static_cast<std::uint64_t>(stride * static_cast<std::int64_t>(i)))) return false;
    run_.count += count - singly;
    return true;
  }

  bool finish() {
    const bool more = run_.count == 0 || sink_(run_);
    run_.count = 0;
    return more;
  }

 private:
  bool add_one(VariableId variable, std::uint64_t offset) {
    if (run_.count == 0 || run_.variable != variable) return finish() && begin(variable, offset);
    if (run_.count == 1) {
      run_.stride = static_cast<std::int64_t>(offset - run_.offset);
      run_.count = 2;
      return true;
    }
    const std::uint64_t last = run_.offset + static_cast<std::uint64_t>(run_.stride) * (run_.count - 1);
    if (last + static_cast<std::uint64_t>(run_.stride) == offset) {
      ++run_.count;
      return true;
    }
    if (run_.count == 2 && offset == last + 1) {
      run_ = {variable, run_.offset, 1, 1};
      if (!sink_(run_)) return false;
      run_ = {variable, last, 1, 2};
      return true;
    }
    return finish() && begin(variable, offset);
  }

  bool begin(VariableId variable, std::uint64_t offset) {
    run_ = {variable, offset, 1, 1};
    return true;
  }

  Sink sink_;
  Run run_;
};

}  // namespace pando::graph
