// Live bytes of one stream at each of its steps, gathered tile by tile. Positions are indexes into the stream's steps.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

namespace pando::cycles {

// Many "add v to [begin, end)", then all sums.
class RangeSum {
 public:
  explicit RangeSum(std::size_t n) : change_(n + 1) {}
  void add(std::size_t begin, std::size_t end, std::uint64_t v) {
    change_[begin] += v;
    change_[end] -= v;  // wraps; the running sum does too
  }
  std::vector<std::uint64_t> values() const {
    std::vector<std::uint64_t> out(change_.size() - 1);
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = sum += change_[i];
    return out;
  }

 private:
  std::vector<std::uint64_t> change_;
};

// Many "raise [begin, end) to at least v", then all maxima. A range is covered by two blocks of a power of two, which may
// overlap; at the end every block is pushed down to its halves. O(1) per range, O(n log n) at the end.
class RangeMax {
 public:
  explicit RangeMax(std::size_t n) : blocks_(std::bit_width(std::max<std::size_t>(n, 1)), std::vector<std::uint64_t>(n)) {}
  void raise(std::size_t begin, std::size_t end, std::uint64_t v) {
    if (begin >= end) return;
    std::size_t level = std::bit_width(end - begin) - 1;
    raise_block(level, begin, v);
    raise_block(level, end - (std::size_t{1} << level), v);
  }
  std::vector<std::uint64_t> values() && {
    for (std::size_t level = blocks_.size(); level-- > 1;)
      for (std::size_t i = 0; i + (std::size_t{1} << level) <= blocks_[level].size(); ++i) {
        raise_block(level - 1, i, blocks_[level][i]);
        raise_block(level - 1, i + (std::size_t{1} << (level - 1)), blocks_[level][i]);
      }
    return std::move(blocks_[0]);
  }

 private:
  void raise_block(std::size_t level, std::size_t begin, std::uint64_t v) { blocks_[level][begin] = std::max(blocks_[level][begin], v); }
  std::vector<std::vector<std::uint64_t>> blocks_;  // [log2 of the size][begin]
};

}  // namespace pando::cycles
