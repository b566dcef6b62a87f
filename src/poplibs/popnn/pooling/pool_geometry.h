// What a pooling vertex works on: boxes of images in the operand and in the result. Read by vertices as integers of their state.
//
//   field (operand) of one dimension:  padding | 0 1 2 3 4 5 6 7 | padding        window o covers [o * stride - padding, + kernel)
//   the operand's box:                           [in_begin, + in_size)            the result's box: windows [out_begin, + out_size)
#pragma once

namespace popnn {

struct PoolDimension {
  int field = 1;
  int kernel = 1;
  int stride = 1;
  int padding = 0;  // before the field; negative: as much of the field is left out
  int in_begin = 0;
  int in_size = 1;
  int out_begin = 0;
  int out_size = 1;
};

// Elements lie as [image][depth][height][width][channel]: `images` of the boxes, one after the other, `channels` of each together.
struct PoolGeometry {
  int images = 1;
  int channels = 1;
  int operation = 0;  // popnn::PoolingType
  PoolDimension depth, height, width;
};

constexpr int kPoolMax = 0, kPoolAverage = 1;

// A range of windows or elements.
struct PoolRange {
  int begin;
  int end;
};
inline int size_of(PoolRange r) { return r.end > r.begin ? r.end - r.begin : 0; }

// The elements of window `o` that lie in the field.
inline PoolRange window_in_field(const PoolDimension& d, int o) {
  const int begin = o * d.stride - d.padding, end = begin + d.kernel;
  return {begin < 0 ? 0 : begin, end > d.field ? d.field : end};
}

inline int floor_div(int a, int b) { return a >= 0 ? a / b : -((-a + b - 1) / b); }
inline int ceil_div(int a, int b) { return -floor_div(-a, b); }

// The windows of [begin, end) whose element number `k` is one of [from, to).
inline PoolRange windows_with(const PoolDimension& d, int k, int from, int to, int begin, int end) {
  const int first = ceil_div(from + d.padding - k, d.stride), last = floor_div(to - 1 + d.padding - k, d.stride) + 1;
  return {first > begin ? first : begin, last < end ? last : end};
}

}  // namespace popnn
