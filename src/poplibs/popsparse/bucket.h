// What a bucket of a sparse matrix's blocks says of them, for vertices and the host: 16-bit words.
//
//   groups  distance  { home (2)  count (2)  { row  column } x count } x groups
//
// A group has blocks of one part of the matrix, its home; rows and columns are counted in blocks from the part's first. A group's blocks
// ascend by rows, then columns. The values of a bucket are those of its blocks in this order, row by row within a block. `distance`: how
// many buckets further than its home a block of the matrix lies at most, the same in all buckets. Numbers of two words: the lower first.
#pragma once

namespace popsparse {

constexpr unsigned kBucketHeader = 2, kGroupHeader = 4, kBlockWords = 2;

inline unsigned two_words(const unsigned short* at) { return at[0] | static_cast<unsigned>(at[1]) << 16; }

// The blocks of a part in a bucket.
struct Group {
  const unsigned short* blocks;  // {row, column} each
  unsigned count;
  unsigned first;  // place of its first block among those of the bucket
  unsigned row(unsigned i) const { return blocks[kBlockWords * i]; }
  unsigned column(unsigned i) const { return blocks[kBlockWords * i + 1]; }
};

inline Group group_of(const unsigned short* bucket, unsigned home) {
  const unsigned short* at = bucket + kBucketHeader;
  unsigned first = 0;
  for (unsigned g = 0; g < bucket[0]; ++g) {
    const unsigned count = two_words(at + 2);
    if (two_words(at) == home) return {at + kGroupHeader, count, first};
    at += kGroupHeader + kBlockWords * count;
    first += count;
  }
  return {at, 0, first};
}

// The first block of the group in a row that is not before `row`.
inline unsigned first_in_row(const Group& g, unsigned row) {
  unsigned low = 0, high = g.count;
  while (low < high) {
    const unsigned middle = (low + high) / 2;
    if (g.row(middle) < row)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

}  // namespace popsparse
