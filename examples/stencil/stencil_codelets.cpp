// A nine-point stencil on one tile's block of a grid: each worker takes every sixth row.
#include <poplar/Vertex.hpp>

using namespace poplar;

class Stencil : public MultiVertex {
 public:
  Vector<Input<Vector<float>>> in;    // the block's rows
  Input<Vector<float>> north, south;  // the rows above and below, with their corners: columns + 2
  Input<Vector<float>> west, east;    // the columns on both sides: rows
  Vector<Output<Vector<float>>> out;

  bool compute(unsigned worker) {
    for (unsigned r = worker; r < in.size(); r += MultiVertex::numWorkers()) row(r);
    return true;
  }

 private:
  // A row with what stands at both of its ends.
  struct Row {
    const float* cells;
    float left, right;
  };

  Row at(int r) const {
    const int rows = int(in.size()), columns = int(in[0].size());
    if (r < 0) return {&north[1], north[0], north[columns + 1]};
    if (r >= rows) return {&south[1], south[0], south[columns + 1]};
    return {&in[r][0], west[r], east[r]};
  }

  static float point(float nw, float n, float ne, float w, float c, float e, float sw, float s, float se) {
    return 0.25f * c + 0.125f * ((n + s) + (w + e)) + 0.0625f * ((nw + ne) + (sw + se));
  }

  void row(unsigned r) {
    const Row a = at(int(r) - 1), b = at(int(r)), c = at(int(r) + 1);
    const unsigned last = in[r].size() - 1;
    const float* __restrict n = a.cells, * __restrict m = b.cells, * __restrict s = c.cells;
    float* __restrict o = &out[r][0];
    if (last == 0) {
      o[0] = point(a.left, n[0], a.right, b.left, m[0], b.right, c.left, s[0], c.right);
      return;
    }
    o[0] = point(a.left, n[0], n[1], b.left, m[0], m[1], c.left, s[0], s[1]);
    for (unsigned i = 1; i < last; ++i) o[i] = point(n[i - 1], n[i], n[i + 1], m[i - 1], m[i], m[i + 1], s[i - 1], s[i], s[i + 1]);
    o[last] = point(n[last - 1], n[last], a.right, m[last - 1], m[last], b.right, s[last - 1], s[last], c.right);
  }
};
