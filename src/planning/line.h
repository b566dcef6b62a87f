// A convolution along one field dimension as one linear equation: the input element i, kernel element t and output element o meet iff
//
//   dilation * i == stride * o + offset + step * t
//
// i counts the truncated input, from its end if `reversed`; t the truncated kernel; o the output before it is padded. Transforms of
// either operand, of the output, and the swapped roles of a kernel that is larger than its input all come down to these numbers.
#pragma once

#include <cstdint>

namespace pando::planning {

struct Line {
  std::int64_t in = 1, out = 1, taps = 1;
  std::int64_t stride = 1, dilation = 1, offset = 0, step = 1;
  bool reversed = false;

  // The input element that meets o and t; -1 if none does.
  std::int64_t input_of(std::int64_t o, std::int64_t t) const;
  friend bool operator==(const Line&, const Line&) = default;
};

// A half-open range.
struct Range {
  std::int64_t begin = 0, end = 0;
  std::int64_t size() const { return end - begin; }
  bool empty() const { return end <= begin; }
  friend bool operator==(const Range&, const Range&) = default;
};

// The n-th of `parts` parts of [0, size), which differ by one element at most.
Range part(std::int64_t size, std::int64_t parts, std::int64_t n);

// The least range of input elements that the outputs and taps of these ranges meet.
Range input_range(const Line& line, Range outputs, Range taps);
// The part of the line that computes `outputs` from `inputs` with all taps, its elements counted from those ranges' begins.
Line part_of(const Line& line, Range outputs, Range inputs);
// How many pairs of an output and a tap meet an input.
std::uint64_t meetings(const Line& line);

}  // namespace pando::planning
