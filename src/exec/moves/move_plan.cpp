#include "exec/moves/move_plan.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "machine/host.h"
#include "tile/runs.h"

namespace pando::exec {
namespace {

constexpr auto kBytesPerNanosecond = static_cast<std::uint64_t>(Host().moved_bytes);
constexpr auto kRunCost = static_cast<std::uint64_t>(Host().moved_run);

// Bytes of elements several of which share a line of memory, and elements of a column that are moved at a time.
constexpr std::uint32_t kNarrowColumn = 16, kPieceOfColumn = 64;
constexpr std::ptrdiff_t kMostColumns = 64;

// Runs that are longer hide their misses.
constexpr std::uint64_t kLine = 64, kMostAhead = 4096;

std::uint64_t run_cost(std::uint64_t bytes, std::uint64_t runs) { return bytes / kBytesPerNanosecond + runs * kRunCost; }

template <std::size_t kBytes>
struct Bytes {
  char bytes[kBytes];
};

// The next pairs' places are known: asking for them early hides the misses of scattered tiles.
template <std::size_t kBytes, class Pair>
void copy_pairs(const Pair* pair, std::size_t count, char* destination, const char* source) {
  constexpr std::size_t kAhead = 8;
  std::size_t i = 0;
  for (; i + kAhead < count; ++i) {
    __builtin_prefetch(source + pair[i + kAhead].source);
    __builtin_prefetch(destination + pair[i + kAhead].destination, 1);
    std::memcpy(destination + pair[i].destination, source + pair[i].source, kBytes);
  }
  for (; i < count; ++i) std::memcpy(destination + pair[i].destination, source + pair[i].source, kBytes);
}

// The states of thousands of tiles: some dozens of bytes each, for which a call costs more than the copy. The compiler's moves never
// overlap; those of a damaged executable may, and are defined, too.
inline void copy_block(char* destination, const char* source, std::size_t bytes) {
  using Half = Bytes<32>;
  if (bytes < sizeof(Half) || bytes > 2 * sizeof(Half)) {
    std::memmove(destination, source, bytes);
    return;
  }
  Half first, last;  // they overlap
  std::memcpy(&first, source, sizeof first);
  std::memcpy(&last, source + bytes - sizeof last, sizeof last);
  std::memcpy(destination, &first, sizeof first);
  std::memcpy(destination + bytes - sizeof last, &last, sizeof last);
}

template <std::size_t kBytes>
void copy_strided(char* to, const char* from, std::int64_t to_step, std::int64_t from_step, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i, to += to_step, from += from_step) std::memcpy(to, from, kBytes);
}

void copy_runs(char* to, const char* from, std::int64_t to_step, std::int64_t from_step, std::size_t bytes, std::size_t count) {
  switch (bytes) {
    case 1: return copy_strided<1>(to, from, to_step, from_step, count);
    case 2: return copy_strided<2>(to, from, to_step, from_step, count);
    case 4: return copy_strided<4>(to, from, to_step, from_step, count);
    case 8: return copy_strided<8>(to, from, to_step, from_step, count);
    case 16: return copy_strided<16>(to, from, to_step, from_step, count);
    case 32: return copy_strided<32>(to, from, to_step, from_step, count);
    case 64: return copy_strided<64>(to, from, to_step, from_step, count);
    default:
      for (std::size_t i = 0; i < count; ++i, to += to_step, from += from_step) std::memmove(to, from, bytes);
  }
}

struct Reach {
  std::uint64_t first, last;
};

// The next runs' places are known: asking for them early hides the misses of scattered tiles.
template <std::size_t kBytes, class Family, class Run>
void copy_short_runs(const Family& family, const Run* run, const Run* end, char* destination, const char* source) {
  constexpr std::ptrdiff_t kAhead = 12;
  destination += family.destination, source += family.source;
  for (; run != end; ++run) {
    if (end - run > kAhead) {
      __builtin_prefetch(source + run[kAhead].source);
      __builtin_prefetch(destination + run[kAhead].destination, 1);
    }
    char* to = destination + run->destination;
    const char* from = source + run->source;
    for (std::uint32_t i = 0; i < run->count; ++i, to += family.destination_step, from += family.source_step) std::memcpy(to, from, kBytes);
  }
}

}  // namespace

std::uint64_t MovePlan::cost_of(const tile::Move& m) { return run_cost(std::uint64_t{m.bytes} * m.count, m.count); }

// Runs that cost more than `target` in several parts.
std::vector<MovePlan::Strided> MovePlan::cut_large(const std::vector<Strided>& runs, std::uint64_t target) {
  std::vector<Strided> pieces;
  pieces.reserve(runs.size());
  for (const Strided& run : runs) {
    const std::uint64_t cost = run_cost(std::uint64_t{run.bytes} * run.count, run.count);
    const std::uint64_t parts = (cost + target - 1) / target;
    if (parts <= 1) {
      pieces.push_back(run);
      continue;
    }
    const std::uint32_t whole = run.count > 1 ? run.count : run.bytes;
    const auto piece = static_cast<std::uint32_t>(std::max<std::uint64_t>(run.count > 1 ? 1 : 64, (whole / parts + 63) / 64 * 64));
    for (std::uint32_t at = 0; at < whole; at += std::min(piece, whole - at)) {
      Strided part = run;
      const std::uint32_t n = std::min(piece, whole - at);
      if (run.count > 1) {
        part.destination += static_cast<std::uint64_t>(run.destination_step * static_cast<std::int64_t>(at));
        part.source += static_cast<std::uint64_t>(run.source_step * static_cast<std::int64_t>(at));
        part.count = n;
      } else {
        part.destination += at, part.source += at, part.bytes = n;
      }
      pieces.push_back(part);
    }
  }
  return pieces;
}

// Offsets from the bases; neighbours that continue each other are one run.
std::vector<MovePlan::Strided> MovePlan::resolve(std::span<const tile::Move> moves, std::uint64_t stride) {
  const auto place = [&](TileId tile, std::uint64_t offset) { return tile.valid() ? tile.index() * stride + offset : offset; };
  std::vector<Strided> runs;
  runs.reserve(moves.size());
  for (const tile::Move& m : moves) {
    if (m.bytes == 0 || m.count == 0) continue;
    Strided run{
        place(m.destination_tile, m.destination), place(m.source_tile, m.source), m.destination_step, m.source_step, m.bytes, m.count};
    const bool dense = m.count > 1 && m.destination_step == m.bytes && m.source_step == m.bytes;
    if (dense && std::uint64_t{m.bytes} * m.count <= UINT32_MAX) run.bytes = m.bytes * m.count, run.count = 1;
    // Adjacent on both sides: one run.
    if (run.count == 1 && !runs.empty()) {
      Strided& last = runs.back();
      if (last.count == 1 && tile::continues({last.source, last.destination, last.bytes}, {run.source, run.destination, run.bytes})) {
        last.bytes += run.bytes;
        continue;
      }
    }
    runs.push_back(run);
  }
  return runs;
}

MovePlan MovePlan::build_parts(std::span<const std::vector<tile::Move>> parts, std::uint64_t stride) {
  MovePlan plan;
  if (std::all_of(parts.begin(), parts.end(), [](const auto& moves) { return moves.empty(); })) return plan;
  for (const std::vector<tile::Move>& moves : parts) {
    const std::vector<Strided> runs = resolve(moves, stride);
    for (const Strided& run : runs) plan.cost_ += run_cost(std::uint64_t{run.bytes} * run.count, run.count);
    plan.add_chunk(runs, 0, runs.size());
  }
  return plan;
}

// In the order of destinations, the small runs of a transpose read each line of the sources many times, from far parts of memory: it has
// left the caches, and its page the table of pages, before its next bytes are wanted. Here the runs to one block of destinations go one
// block of sources after the other; their order does not matter.
void MovePlan::put_in_blocks(std::vector<Strided>& runs) {
  constexpr std::size_t kFewRuns = 1u << 14;
  constexpr std::uint64_t kBlockBytes = 1u << 19;  // that are written, wherever their tiles lie
  constexpr unsigned kSourceBits = 22;
  if (runs.size() < kFewRuns) return;
  const auto block = [](const Strided& r) { return r.source >> kSourceBits; };
  std::size_t jumps = 0;
  std::uint64_t blocks = 0;
  for (std::size_t i = 1; i < runs.size(); ++i)
    jumps += block(runs[i]) != block(runs[i - 1]), blocks = std::max(blocks, block(runs[i]) + 1);
  constexpr std::uint64_t kMostBlocks = 1u << 16;
  if (jumps < runs.size() / 64 || blocks > kMostBlocks) return;
  std::vector<Strided> sorted(runs.size());
  std::vector<std::size_t> place(blocks + 1);
  for (std::size_t begin = 0, end = 0; begin < runs.size(); begin = end) {
    std::fill(place.begin(), place.end(), 0);
    std::uint64_t bytes = 0;
    for (end = begin; end < runs.size() && bytes < kBlockBytes; ++end) {
      bytes += std::uint64_t{runs[end].bytes} * runs[end].count;
      ++place[block(runs[end]) + 1];
    }
    for (std::size_t b = 0, sum = begin; b <= blocks; ++b) sum += place[b], place[b] = sum;
    for (std::size_t i = begin; i < end; ++i) sorted[place[block(runs[i])]++] = runs[i];
  }
  runs = std::move(sorted);
}

MovePlan MovePlan::build(const std::vector<tile::Move>& moves, std::uint64_t stride, unsigned chunks, bool in_blocks) {
  MovePlan plan;
  std::vector<Strided> runs = resolve(moves, stride);
  if (runs.size() == 1 && runs[0].count == 1) plan.only_run_ = {runs[0].destination, runs[0].source, runs[0].bytes};
  if (in_blocks) {
    plan.transposes_ = Transposes::take_from(runs);
    put_in_blocks(runs);
  }
  for (const Strided& run : runs) plan.cost_ += run_cost(std::uint64_t{run.bytes} * run.count, run.count);
  for (std::uint32_t i = 0; i < plan.transposes_.size(); ++i) plan.cost_ += run_cost(plan.transposes_.bytes(i), plan.transposes_.lines(i));
  if (plan.cost_ == 0 && runs.empty()) return plan;

  // Chunks of like cost, in order of destination; a large run is cut.
  const std::uint64_t target = std::max<std::uint64_t>(plan.cost_ / std::max(chunks, 1u) + 1, 200);
  plan.add_transposes(target);
  const std::vector<Strided> pieces = cut_large(runs, target);
  std::uint64_t cost = 0;
  std::size_t first = 0;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    cost += run_cost(std::uint64_t{pieces[i].bytes} * pieces[i].count, pieces[i].count);
    if (cost < target && i + 1 < pieces.size()) continue;
    plan.add_chunk(pieces, first, i + 1);
    first = i + 1;
    cost = 0;
  }
  return plan;
}

void MovePlan::add_transposes(std::uint64_t target) {
  std::uint64_t cost = 0;
  for (std::uint32_t i = 0, first = 0; i < transposes_.size(); ++i) {
    cost += run_cost(transposes_.bytes(i), transposes_.lines(i));
    if (cost < target && i + 1 < transposes_.size()) continue;
    Chunk chunk = {};
    chunk.transpose = first;
    chunk.transpose_end = first = i + 1;
    chunks_.push_back(chunk);
    cost = 0;
  }
}

void MovePlan::add_chunk(const std::vector<Strided>& runs, std::size_t first, std::size_t last) {
  const auto is_small = [](const Strided& r) { return r.count == 1 && r.bytes <= 64 && std::has_single_bit(r.bytes); };
  Chunk chunk = {};
  for (unsigned k = 0; k < kSmallSizes; ++k) {
    chunk.small[k] = static_cast<std::uint32_t>(small_.size());
    for (std::size_t i = first; i < last; ++i)
      if (is_small(runs[i]) && runs[i].bytes == 1u << k) small_.push_back({runs[i].destination, runs[i].source});
    chunk.small_count[k] = static_cast<std::uint32_t>(small_.size()) - chunk.small[k];
  }
  chunk.block = static_cast<std::uint32_t>(blocks_.size());
  chunk.strided = static_cast<std::uint32_t>(strided_.size());
  chunk.family = static_cast<std::uint32_t>(families_.size());
  for (std::size_t i = first; i < last; ++i) {
    if (is_small(runs[i])) continue;
    if (runs[i].count == 1) {
      blocks_.push_back({runs[i].destination, runs[i].source, runs[i].bytes});
      continue;
    }
    Family family;
    const Strided* const end = end_of_family(&runs[i], runs.data() + last, family);
    if (end == &runs[i]) {
      strided_.push_back(runs[i]);
      continue;
    }
    family.first = static_cast<std::uint32_t>(short_runs_.size());
    for (const Strided* run = &runs[i]; run != end; ++run)
      short_runs_.push_back({static_cast<std::uint32_t>(run->destination - family.destination),
                             static_cast<std::uint32_t>(run->source - family.source), run->count});
    family.runs = static_cast<std::uint32_t>(short_runs_.size()) - family.first;
    families_.push_back(family);
    i = static_cast<std::size_t>(end - runs.data()) - 1;
  }
  chunk.block_count = static_cast<std::uint32_t>(blocks_.size()) - chunk.block;
  chunk.strided_count = static_cast<std::uint32_t>(strided_.size()) - chunk.strided;
  chunk.family_count = static_cast<std::uint32_t>(families_.size()) - chunk.family;
  chunks_.push_back(chunk);
}

// The runs from `run` on that are alike but for their places, which 32 bits tell apart, and their lengths, which are short; none if there
// are too few for it to matter.
const MovePlan::Strided* MovePlan::end_of_family(const Strided* run, const Strided* end, Family& family) {
  constexpr std::ptrdiff_t kFewRuns = 64;
  constexpr std::uint64_t kFar = std::uint64_t{1} << 32;
  const auto is_short = [](const Strided& s) {
    return s.bytes <= kNarrowColumn && std::has_single_bit(s.bytes) && s.count <= kPieceOfColumn;
  };
  Reach destinations{run->destination, run->destination}, sources{run->source, run->source};
  const Strided* next = run;
  for (; next != end; ++next) {
    if (!is_short(*next) || next->bytes != run->bytes || next->destination_step != run->destination_step ||
        next->source_step != run->source_step)
      break;
    const Reach d{std::min(destinations.first, next->destination), std::max(destinations.last, next->destination)};
    const Reach s{std::min(sources.first, next->source), std::max(sources.last, next->source)};
    if (d.last - d.first >= kFar || s.last - s.first >= kFar) break;
    destinations = d, sources = s;
  }
  family = {destinations.first, sources.first, run->destination_step, run->source_step, run->bytes, 0, 0};
  return next - run < kFewRuns ? run : next;
}

// The runs from `run` on that are columns of one matrix, side by side in memory at one end: each begins where the one before it has its
// first bytes' end.
const MovePlan::Strided* MovePlan::end_of_columns(const Strided* run, const Strided* end) {
  const Strided* next = run + 1;
  if (run->bytes > kNarrowColumn || run->count <= kPieceOfColumn) return next;
  const auto continues = [&](const Strided& s, std::uint64_t MovePlan::Strided::* place) {
    return s.*place == run->*place + std::uint64_t{run->bytes} * static_cast<std::uint64_t>(&s - run);
  };
  const auto alike = [&](const Strided& s) {
    return s.bytes == run->bytes && s.count == run->count && s.destination_step == run->destination_step &&
           s.source_step == run->source_step;
  };
  for (const auto place : {&Strided::source, &Strided::destination}) {
    while (next != end && next - run < kMostColumns && alike(*next) && continues(*next, place)) ++next;
    if (next != run + 1) break;
  }
  return next;
}

// Blocks that are asked for while others move.
struct MovePlan::Ahead {
  const Block *next, *end;
  void prefetch_one(const char* source) {
    if (next == end) return;
    for (std::uint64_t at = 0; at < std::min(next->bytes, kMostAhead); at += kLine) __builtin_prefetch(source + next->source + at);
    ++next;
  }
};

void MovePlan::run(unsigned index, char* destination, const char* source) const { run(index, destination, source, {nullptr, nullptr}); }

void MovePlan::run_before(unsigned next, unsigned index, char* destination, const char* source) const {
  const Block* const first = blocks_.data() + chunks_[next].block;
  run(index, destination, source, {first, first + chunks_[next].block_count});
}

void MovePlan::run(unsigned index, char* destination, const char* source, Ahead ahead) const {
  const Chunk& c = chunks_[index];
  const auto small = [&]<std::size_t kBytes>(unsigned k) {
    if (c.small_count[k] > 0) copy_pairs<kBytes>(small_.data() + c.small[k], c.small_count[k], destination, source);
  };
  small.operator()<1>(0);
  small.operator()<2>(1);
  small.operator()<4>(2);
  small.operator()<8>(3);
  small.operator()<16>(4);
  small.operator()<32>(5);
  small.operator()<64>(6);
  constexpr std::ptrdiff_t kAhead = 16;
  for (const Block *b = blocks_.data() + c.block, *end = b + c.block_count; b != end; ++b) {
    if (end - b > kAhead) {
      __builtin_prefetch(source + b[kAhead].source);
      __builtin_prefetch(destination + b[kAhead].destination, 1);
    }
    copy_block(destination + b->destination, source + b->source, b->bytes);
    ahead.prefetch_one(source);
  }
  while (ahead.next != ahead.end) ahead.prefetch_one(source);
  for (const Strided *s = strided_.data() + c.strided, *end = s + c.strided_count; s != end;) {
    const Strided* const last = end_of_columns(s, end);
    // Runs through the same lines of memory: a piece of each at a time, while the lines are near.
    const std::uint32_t step = last - s > 1 ? kPieceOfColumn : s->count;
    for (std::uint32_t at = 0; at < s->count; at += step)
      for (const Strided* run = s; run != last; ++run)
        copy_runs(destination + run->destination + run->destination_step * static_cast<std::int64_t>(at),
                  source + run->source + run->source_step * static_cast<std::int64_t>(at), run->destination_step, run->source_step,
                  run->bytes, std::min(step, run->count - at));
    s = last;
  }
  for (std::uint32_t i = 0; i < c.family_count; ++i) run_family(families_[c.family + i], destination, source);
  transposes_.run(c.transpose, c.transpose_end, destination, source);
}

void MovePlan::run_family(const Family& f, char* destination, const char* source) const {
  const ShortRun* const first = short_runs_.data() + f.first;
  switch (f.bytes) {
    case 1: return copy_short_runs<1>(f, first, first + f.runs, destination, source);
    case 2: return copy_short_runs<2>(f, first, first + f.runs, destination, source);
    case 4: return copy_short_runs<4>(f, first, first + f.runs, destination, source);
    case 8: return copy_short_runs<8>(f, first, first + f.runs, destination, source);
    default: return copy_short_runs<16>(f, first, first + f.runs, destination, source);
  }
}

void MovePlan::run_all(char* destination, const char* source) const {
  for (unsigned i = 0; i < chunks(); ++i) run(i, destination, source);
}

void MovePlan::fill(unsigned index, char* destination, unsigned char byte) const {
  const Chunk& c = chunks_[index];
  for (unsigned k = 0; k < kSmallSizes; ++k)
    for (std::uint32_t i = 0; i < c.small_count[k]; ++i)
      std::memset(destination + small_[c.small[k] + i].destination, byte, std::size_t{1} << k);
  for (std::uint32_t i = 0; i < c.block_count; ++i)
    std::memset(destination + blocks_[c.block + i].destination, byte, blocks_[c.block + i].bytes);
  for (std::uint32_t i = 0; i < c.strided_count; ++i) {
    const Strided& s = strided_[c.strided + i];
    for (std::uint32_t k = 0; k < s.count; ++k)
      std::memset(destination + static_cast<std::int64_t>(s.destination) + s.destination_step * static_cast<std::int64_t>(k), byte,
                  s.bytes);
  }
  for (std::uint32_t i = 0; i < c.family_count; ++i) {
    const Family& f = families_[c.family + i];
    for (const ShortRun *run = short_runs_.data() + f.first, *end = run + f.runs; run != end; ++run)
      for (std::uint32_t k = 0; k < run->count; ++k)
        std::memset(destination + f.destination + run->destination + f.destination_step * static_cast<std::int64_t>(k), byte, f.bytes);
  }
  transposes_.fill(c.transpose, c.transpose_end, destination, byte);
}

}  // namespace pando::exec
