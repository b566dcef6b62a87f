// Moves resolved to offsets from two bases, sorted into size classes and cut into chunks of like cost. Built once at load; one
// plan serves all replicas, since only the bases differ.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "exec/moves/transposes.h"
#include "tile/program.h"

namespace pando::exec {

class MovePlan {
 public:
  // Tile t's bytes are at t * stride from its base; an invalid tile's offset counts from its base directly. `chunks`: the most
  // chunks to cut into. `in_blocks`: small runs that read all over memory go block by block, as transposes where they are some; else in
  // the order of the moves.
  static MovePlan build(const std::vector<tile::Move>& moves, std::uint64_t stride, unsigned chunks, bool in_blocks = true);
  // Chunk k has the moves of parts[k]; it may be empty. No moves at all: no chunks.
  static MovePlan build_parts(std::span<const std::vector<tile::Move>> parts, std::uint64_t stride);

  bool empty() const { return chunks_.empty(); }
  unsigned chunks() const { return static_cast<unsigned>(chunks_.size()); }
  // If all bytes lie in one run on both sides: where, from the bases.
  struct Run {
    std::uint64_t destination, source, bytes;
  };
  const std::optional<Run>& only_run() const { return only_run_; }
  // A rough cost in nanoseconds of one thread, by rule.
  std::uint64_t cost() const { return cost_; }
  static std::uint64_t cost_of(const tile::Move& move);
  // Moves the chunk's bytes. Chunks write different bytes, so they may run at the same time.
  void run(unsigned chunk, char* destination, const char* source) const;
  void run_all(char* destination, const char* source) const;
  // The same; between its long runs it asks for what those of chunk `next` read: where each begins in far memory, nothing else does so in
  // time, and all at once would be more than are under way together.
  void run_before(unsigned next, unsigned chunk, char* destination, const char* source) const;
  // Fills the destinations with a byte.
  void fill(unsigned chunk, char* destination, unsigned char byte) const;

 private:
  struct Pair {
    std::uint64_t destination, source;
  };
  struct Block {
    std::uint64_t destination, source, bytes;
  };
  using Strided = StridedRun;
  // Short runs that differ in where they are and how long: a third of the bytes, of which a transpose has hundreds of millions.
  struct ShortRun {
    std::uint32_t destination, source, count;  // from the places of their family
  };
  struct Family {
    std::uint64_t destination, source;
    std::int64_t destination_step, source_step;
    std::uint32_t bytes, first, runs;
  };
  static const Strided* end_of_columns(const Strided* run, const Strided* end);
  static const Strided* end_of_family(const Strided* run, const Strided* end, Family& family);
  // Ranges of the arrays below.
  static constexpr unsigned kSmallSizes = 7;  // 1, 2, 4, ... 64 bytes
  struct Chunk {
    std::uint32_t small[kSmallSizes];  // first of each size
    std::uint32_t small_count[kSmallSizes];
    std::uint32_t block, block_count;
    std::uint32_t strided, strided_count;
    std::uint32_t family, family_count;
    std::uint32_t transpose, transpose_end;
  };
  static std::vector<Strided> resolve(std::span<const tile::Move> moves, std::uint64_t stride);
  static void put_in_blocks(std::vector<Strided>& runs);
  static std::vector<Strided> cut_large(const std::vector<Strided>& runs, std::uint64_t target);
  struct Ahead;
  void run(unsigned chunk, char* destination, const char* source, Ahead ahead) const;
  void add_transposes(std::uint64_t target);
  void add_chunk(const std::vector<Strided>& runs, std::size_t first, std::size_t last);
  void run_family(const Family& family, char* destination, const char* source) const;

  std::vector<Pair> small_;
  std::vector<Block> blocks_;
  std::vector<Strided> strided_;
  std::vector<Family> families_;
  std::vector<ShortRun> short_runs_;
  Transposes transposes_;
  std::vector<Chunk> chunks_;
  std::optional<Run> only_run_;
  std::uint64_t cost_ = 0;
};

}  // namespace pando::exec
