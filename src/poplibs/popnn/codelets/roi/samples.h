// Where the points of a region's bins lie, and the pixels around them.
#pragma once

namespace popnn {

struct RoiGrid {
  unsigned height, width;         // of an image
  unsigned bins_high, bins_wide;  // of a region
  unsigned points;                // of a bin in each direction; 0: as many as pixels
  float scale;
  bool aligned;
};

// One direction of a region.
struct RoiAxis {
  float start, bin;
  unsigned points;

  RoiAxis(const RoiGrid& grid, float from, float to, unsigned bins) {
    const float shift = grid.aligned ? 0.5f : 0.0f;
    start = from * grid.scale - shift;
    float length = to * grid.scale - shift - start;
    if (!grid.aligned && !(length > 1)) length = 1;
    bin = length / static_cast<float>(bins);
    points = grid.points;
    if (points == 0) points = bin > 1 ? (bin < 65536.0f ? static_cast<unsigned>(__builtin_ceilf(bin)) : 65536) : 1;
  }
  float at(unsigned b, unsigned point) const {
    return start + static_cast<float>(b) * bin + (static_cast<float>(point) + 0.5f) * bin / static_cast<float>(points);
  }
};

// The two pixels that a coordinate lies between, and how much of the second. False if it is outside.
inline bool between(float x, unsigned size, unsigned& low, unsigned& high, float& part) {
  if (!(x >= -1.0f && x <= static_cast<float>(size))) return false;
  if (x < 0) x = 0;
  low = static_cast<unsigned>(x);
  if (low >= size - 1) {
    low = high = size - 1;
    part = 0;
  } else {
    high = low + 1;
    part = x - static_cast<float>(low);
  }
  return true;
}

// Calls f(bin, pixel, weight) four times for each point of a region {left, top, right, bottom}. The weights of a bin add up to 1, less
// those of points outside.
template <class F>
inline void for_each_sample(const RoiGrid& grid, const float* roi, const F& f) {
  const RoiAxis across(grid, roi[0], roi[2], grid.bins_wide), down(grid, roi[1], roi[3], grid.bins_high);
  const float share = 1.0f / (static_cast<float>(across.points) * static_cast<float>(down.points));
  for (unsigned by = 0; by < grid.bins_high; ++by)
    for (unsigned bx = 0; bx < grid.bins_wide; ++bx)
      for (unsigned py = 0; py < down.points; ++py) {
        unsigned y0, y1, x0, x1;
        float in_y, in_x;
        if (!between(down.at(by, py), grid.height, y0, y1, in_y)) continue;
        for (unsigned px = 0; px < across.points; ++px) {
          if (!between(across.at(bx, px), grid.width, x0, x1, in_x)) continue;
          const unsigned bin = by * grid.bins_wide + bx;
          f(bin, y0 * grid.width + x0, share * (1 - in_y) * (1 - in_x));
          f(bin, y0 * grid.width + x1, share * (1 - in_y) * in_x);
          f(bin, y1 * grid.width + x0, share * in_y * (1 - in_x));
          f(bin, y1 * grid.width + x1, share * in_y * in_x);
        }
      }
}

}  // namespace popnn
