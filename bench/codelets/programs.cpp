// Codelets as users write them, for programs_bench: plain loops over their edges.
#include <poplar/Vertex.hpp>

#include "loops.h"

using namespace poplar;

class StencilRow : public Vertex {
 public:
  Input<Vector<float, VectorLayout::ONE_PTR>> own, up, down, near, far;
  Output<Vector<float>> out;

  bool compute() {
    stencil_row(&own[0], &up[0], &down[0], &near[0], &far[0], &out[0], out.size());
    return true;
  }
};

// The five rows one after the other in one edge.
class StencilGathered : public Vertex {
 public:
  Input<Vector<float, VectorLayout::ONE_PTR>> rows;
  Output<Vector<float>> out;

  bool compute() {
    const unsigned n = out.size();
    const float* r = &rows[0];
    stencil_row(r, r + n, r + 2 * n, r + 3 * n, r + 4 * n, &out[0], n);
    return true;
  }
};

class LatticeRow : public Vertex {
 public:
  Vector<Input<Vector<float, VectorLayout::ONE_PTR>>> in;
  Vector<Output<Vector<float, VectorLayout::ONE_PTR>>> out;
  unsigned width;
  float omega;

  bool compute() {
    const float* f[9];
    float* g[9];
    for (unsigned q = 0; q < 9; ++q) f[q] = &in[q][0], g[q] = &out[q][0];
    lattice_row(f, g, width, omega);
    return true;
  }
};

class CountBytes : public Vertex {
 public:
  Input<Vector<unsigned char>> in;
  Output<Vector<unsigned, VectorLayout::ONE_PTR>> counts;

  bool compute() {
    count_bytes(&in[0], in.size(), &counts[0]);
    return true;
  }
};
