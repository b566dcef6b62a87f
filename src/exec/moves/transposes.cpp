#include "exec/moves/transposes.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace pando::exec {
namespace {

constexpr std::uint32_t kLeastRows = 4, kLeastColumns = 8;
constexpr std::uint64_t kFar = std::uint64_t{1} << 32;

template <class Element>
Element load(const char* at) {
  Element e;
  std::memcpy(&e, at, sizeof e);
  return e;
}

// Four lines of four words at once; of a number of lines that four do not divide, the last ones overlap.
using Word4 = std::uint32_t __attribute__((vector_size(16)));

void turn_words(const char* const from[4], std::uint64_t row_bytes, char* const to[4], std::uint64_t column_bytes) {
  const Word4 a = load<Word4>(from[0] + row_bytes), b = load<Word4>(from[1] + row_bytes);
  const Word4 c = load<Word4>(from[2] + row_bytes), d = load<Word4>(from[3] + row_bytes);
  const Word4 ab = __builtin_shufflevector(a, b, 0, 4, 1, 5), cd = __builtin_shufflevector(c, d, 0, 4, 1, 5);
  const Word4 ab2 = __builtin_shufflevector(a, b, 2, 6, 3, 7), cd2 = __builtin_shufflevector(c, d, 2, 6, 3, 7);
  const Word4 out[4] = {__builtin_shufflevector(ab, cd, 0, 1, 4, 5), __builtin_shufflevector(ab, cd, 2, 3, 6, 7),
                        __builtin_shufflevector(ab2, cd2, 0, 1, 4, 5), __builtin_shufflevector(ab2, cd2, 2, 3, 6, 7)};
  for (int i = 0; i < 4; ++i) std::memcpy(to[i] + column_bytes, &out[i], sizeof out[i]);
}

struct Element16 {
  char bytes[16];
};

}  // namespace

// Finds in runs, by their order, windows that come again one element further on: the lines of a block.
class TransposeFinder {
 public:
  explicit TransposeFinder(std::vector<StridedRun>& runs) : runs_(runs), used_(runs.size()) {}

  Transposes find() {
    for (std::size_t i = 0; i < runs_.size();) i = used_[i] || !is_short(i) ? i + 1 : take_block(i);
    std::size_t kept = 0;
    for (std::size_t i = 0; i < runs_.size(); ++i)
      if (!used_[i]) runs_[kept++] = runs_[i];
    runs_.resize(kept);
    return std::move(out_);
  }

 private:
  bool is_short(std::size_t i) const {
    const StridedRun& r = runs_[i];
    return r.bytes <= 16 && std::has_single_bit(r.bytes) && r.count <= Transposes::kMostColumns &&
           (r.count == 1 || r.destination_step == r.bytes);
  }
  // Does run i go on where the run before it ends?
  bool continues(std::size_t i) const {
    const StridedRun &a = runs_[i - 1], &b = runs_[i];
    return b.bytes == a.bytes && b.destination == a.destination + std::uint64_t{a.bytes} * a.count;
  }
  // Is run b the same as run a, one element further on in the sources?
  bool is_next(std::size_t a, std::size_t b) const {
    const StridedRun &x = runs_[a], &y = runs_[b];
    return y.source == x.source + x.bytes && y.bytes == x.bytes && y.count == x.count &&
           (x.count == 1 || (y.source_step == x.source_step && y.destination_step == x.destination_step));
  }
  bool are_next(std::size_t a, std::size_t b, std::size_t count) const {
    if (b + count > runs_.size()) return false;
    for (std::size_t k = 0; k < count; ++k)
      if (used_[b + k] || !is_next(a + k, b + k) || (k > 0 && !continues(b + k))) return false;
    return true;
  }

  // Where the window of `count` runs at `at` comes again; 0: nowhere. Mostly as many runs further on as the last one did, or one or two
  // more or less: the end of a tile's memory parts a run. `looks`: anywhere.
  std::size_t next_line(std::size_t at, std::size_t count, bool looks) {
    constexpr std::size_t kFurthest = std::size_t{1} << 16;
    for (const std::ptrdiff_t off : {0, 1, -1, 2, -2}) {
      const std::size_t next = at + distance_ + static_cast<std::size_t>(off);
      if (distance_ > 2 && next >= at + count && are_next(at, next, count)) return next;
    }
    if (!looks || at < looks_from_) return 0;
    for (std::size_t next = at + count; next < std::min(runs_.size(), at + kFurthest); ++next)
      if (is_next(at, next) && are_next(at, next, count)) {
        failures_ = 0;
        return next;
      }
    looks_from_ = at + (std::size_t{64} << std::min(failures_++, 20u));
    return 0;
  }

  // The block whose first line begins at run `at`, if there is one. Returns which run to go on with.
  std::size_t take_block(std::size_t at) {
    std::uint32_t columns = runs_[at].count;
    std::size_t end = at + 1;
    for (; end < runs_.size() && !used_[end] && is_short(end) && continues(end); ++end) {
      if (columns + runs_[end].count > Transposes::kMostColumns) break;
      columns += runs_[end].count;
    }
    if (columns < kLeastColumns) return end;
    lines_.assign(1, at);
    std::uint64_t low = runs_[at].destination, high = low;
    while (lines_.size() < Transposes::kMostRows) {
      const std::size_t next = next_line(lines_.back(), end - at, lines_.size() == 1);
      if (next == 0) break;
      const std::uint64_t place = runs_[next].destination;
      if (std::max(high, place) - std::min(low, place) >= kFar) break;
      low = std::min(low, place), high = std::max(high, place);
      distance_ = next - lines_.back();
      lines_.push_back(next);
    }
    if (lines_.size() >= kLeastRows) add_block(at, end, columns, low);
    return end;
  }

  void add_block(std::size_t at, std::size_t end, std::uint32_t columns, std::uint64_t destination) {
    std::vector<std::uint64_t> sources;
    sources.reserve(columns);
    for (std::size_t k = at; k < end; ++k)
      for (std::uint32_t i = 0; i < runs_[k].count; ++i)
        sources.push_back(runs_[k].source + static_cast<std::uint64_t>(runs_[k].source_step * static_cast<std::int64_t>(i)));
    const auto [low, high] = std::minmax_element(sources.begin(), sources.end());
    if (*high - *low >= kFar) return;
    out_.blocks_.push_back({destination, *low, static_cast<std::uint32_t>(out_.places_.size()), static_cast<std::uint32_t>(lines_.size()),
                            columns, runs_[at].bytes});
    for (const std::size_t line : lines_) {
      out_.places_.push_back(static_cast<std::uint32_t>(runs_[line].destination - destination));
      for (std::size_t k = 0; k < end - at; ++k) used_[line + k] = 1;
    }
    for (const std::uint64_t source : sources) out_.places_.push_back(static_cast<std::uint32_t>(source - *low));
  }

  std::vector<StridedRun>& runs_;
  std::vector<char> used_;
  std::vector<std::size_t> lines_;  // the first run of each
  std::size_t distance_ = 0;        // in runs, from one line to the next
  std::size_t looks_from_ = 0;      // looking further on for a line that is not there takes long: more and more rarely
  unsigned failures_ = 0;
  Transposes out_;
};

Transposes Transposes::take_from(std::vector<StridedRun>& runs) {
  constexpr std::size_t kFewRuns = 1u << 12;
  return runs.size() < kFewRuns ? Transposes() : TransposeFinder(runs).find();
}

std::uint64_t Transposes::bytes(std::uint32_t block) const {
  const Block& b = blocks_[block];
  return std::uint64_t{b.rows} * b.columns * b.bytes;
}

// A part of what the block touches.
void Transposes::prefetch(const Block& b, std::uint32_t part, std::uint32_t parts, char* destination, const char* source) const {
  constexpr std::uint64_t kLine = 64;
  const std::uint32_t *const rows = places_.data() + b.first, *const columns = rows + b.rows;
  for (std::uint32_t c = b.columns * part / parts; c < b.columns * (part + 1) / parts; ++c)
    for (std::uint64_t at = 0; at < std::uint64_t{b.rows} * b.bytes; at += kLine) __builtin_prefetch(source + b.source + columns[c] + at);
  for (std::uint32_t r = b.rows * part / parts; r < b.rows * (part + 1) / parts; ++r)
    for (std::uint64_t at = 0; at < std::uint64_t{b.columns} * b.bytes; at += kLine)
      __builtin_prefetch(destination + b.destination + rows[r] + at, 1);
}

template <class Element>
void Transposes::run_block(std::uint32_t block, std::uint32_t next, char* destination, const char* source) const {
  const Block& b = blocks_[block];
  const std::uint32_t *const rows = places_.data() + b.first, *const columns = rows + b.rows;
  constexpr std::uint32_t kStep = 4;
  const std::uint32_t parts = (b.columns + kStep - 1) / kStep;
  for (std::uint32_t part = 0; part < parts; ++part) {
    prefetch(blocks_[next], part, parts, destination, source);
    const std::uint32_t c = std::min(part * kStep, b.columns - kStep);
    const char* from[kStep];
    for (std::uint32_t k = 0; k < kStep; ++k) from[k] = source + b.source + columns[c + k];
    for (std::uint32_t step = 0; step < b.rows; step += kStep) {
      const std::uint32_t r = std::min(step, b.rows - kStep);
      char* to[kStep];
      for (std::uint32_t k = 0; k < kStep; ++k) to[k] = destination + b.destination + rows[r + k];
      if constexpr (sizeof(Element) == 4) {
        turn_words(from, std::uint64_t{r} * 4, to, std::uint64_t{c} * 4);
      } else {
        for (std::uint32_t i = 0; i < kStep; ++i)
          for (std::uint32_t k = 0; k < kStep; ++k) {
            const auto element = load<Element>(from[k] + (r + i) * sizeof(Element));
            std::memcpy(to[i] + (c + k) * sizeof(Element), &element, sizeof element);
          }
      }
    }
  }
}

void Transposes::run(std::uint32_t begin, std::uint32_t end, char* destination, const char* source) const {
  for (std::uint32_t i = begin; i < end; ++i) {
    const std::uint32_t next = std::min(i + 1, end - 1);
    switch (blocks_[i].bytes) {
      case 1: run_block<std::uint8_t>(i, next, destination, source); break;
      case 2: run_block<std::uint16_t>(i, next, destination, source); break;
      case 4: run_block<std::uint32_t>(i, next, destination, source); break;
      case 8: run_block<std::uint64_t>(i, next, destination, source); break;
      default: run_block<Element16>(i, next, destination, source); break;
    }
  }
}

void Transposes::fill(std::uint32_t begin, std::uint32_t end, char* destination, unsigned char byte) const {
  for (std::uint32_t i = begin; i < end; ++i) {
    const Block& b = blocks_[i];
    for (std::uint32_t r = 0; r < b.rows; ++r)
      std::memset(destination + b.destination + places_[b.first + r], byte, std::uint64_t{b.columns} * b.bytes);
  }
}

}  // namespace pando::exec
