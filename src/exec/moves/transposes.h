// Short runs that turn blocks of matrices, as one descriptor each: a copy of a transposed view is millions of runs of a few elements, each
// of which costs more to read and to start than its elements to move.
//
// Element (row r, column c) of a block goes from sources[c] + r * bytes to destinations[r] + c * bytes: both sides have a table of where
// their lines begin, since tiles part a matrix anywhere. So a block reads some elements of each line of memory that it touches, and writes
// some of each, while both are near.
#pragma once

#include <cstdint>
#include <vector>

namespace pando::exec {

// `count` runs of `bytes` bytes, at places counted from the bases of a move plan.
struct StridedRun {
  std::uint64_t destination, source;
  std::int64_t destination_step, source_step;
  std::uint32_t bytes, count;
};

class Transposes {
 public:
  static constexpr std::uint32_t kMostRows = 64, kMostColumns = 32;

  // Takes the runs of blocks out of `runs`, which are in the order of destinations; the others stay, in order.
  static Transposes take_from(std::vector<StridedRun>& runs);

  std::uint32_t size() const { return static_cast<std::uint32_t>(blocks_.size()); }
  std::uint64_t bytes(std::uint32_t block) const;
  // Rows and columns: what a block costs besides its bytes.
  std::uint32_t lines(std::uint32_t block) const { return blocks_[block].rows + blocks_[block].columns; }
  void run(std::uint32_t begin, std::uint32_t end, char* destination, const char* source) const;
  void fill(std::uint32_t begin, std::uint32_t end, char* destination, unsigned char byte) const;

 private:
  friend class TransposeFinder;
  struct Block {
    std::uint64_t destination, source;          // to which the places are added
    std::uint32_t first, rows, columns, bytes;  // in places_: of the rows' destinations, then of the columns' sources
  };
  template <class Element>
  void run_block(std::uint32_t block, std::uint32_t next, char* destination, const char* source) const;
  void prefetch(const Block& block, std::uint32_t part, std::uint32_t parts, char* destination, const char* source) const;

  std::vector<Block> blocks_;
  std::vector<std::uint32_t> places_;
};

}  // namespace pando::exec
