// Time, cut into the sections that matter to an allocation.
//
//   time      0  1  2  3  4  5  6  7  8
//   a         [-----)                        The live set grows at every begin and shrinks at every end. Only the largest
//   b            [--------)                  sets matter: {a b}, {b c d}, {e}. They are the sections 0, 1, 2. Two buffers
//   c               [-----)                  conflict exactly if they share a section, and a section's load is the sum of
//   d                  [-----)               the sizes of its buffers.
//   e                           [--)
//   section      0        1      2
#pragma once

#include <cstdint>
#include <vector>

#include "allocate/problem.h"

namespace pando::allocate {

// Half-open range of sections.
struct Span {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
};

struct Sections {
  std::uint32_t count = 0;
  std::vector<Span> spans;           // those of buffer i are spans[first[i]] .. spans[first[i + 1]], sorted
  std::vector<std::uint32_t> first;  // one more than there are buffers
  std::vector<std::uint64_t> load;   // per section: the sum of sizes

  const Span* begin_of(std::size_t buffer) const { return spans.data() + first[buffer]; }
  const Span* end_of(std::size_t buffer) const { return spans.data() + first[buffer + 1]; }
  // From the first section of a buffer to its last: a buffer with a gap covers the gap too. Empty for a buffer never live.
  Span hull(std::size_t buffer) const;
  bool conflict(std::size_t a, std::size_t b) const;
};

Sections make_sections(const std::vector<Buffer>& buffers);

}  // namespace pando::allocate
