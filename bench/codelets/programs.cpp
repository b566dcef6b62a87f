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

class Dot : public Vertex {
 public:
  Input<Vector<float, VectorLayout::ONE_PTR>> row;
  Input<Vector<float>> column;
  Output<float> out;

  bool compute() {
    *out = dot(&row[0], &column[0], 1, column.size());
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

// Rows of a sparse matrix times the values of the columns that they have.
class SparseRows : public Vertex {
 public:
  Input<Vector<unsigned, VectorLayout::ONE_PTR>> rowBegin, columns;
  Input<Vector<float, VectorLayout::ONE_PTR>> values, x;
  Output<Vector<float>> y;

  bool compute() {
    for (unsigned r = 0; r < y.size(); ++r) {
      const unsigned begin = rowBegin[r];
      y[r] = sparse_row(&columns[begin], &values[begin], rowBegin[r + 1] - begin, &x[0]);
    }
    return true;
  }
};

class PickSplitters : public Vertex {
 public:
  InOut<Vector<unsigned>> samples;
  Output<Vector<unsigned>> splitters;

  bool compute() {
    pick_splitters(&samples[0], samples.size(), &splitters[0], splitters.size());
    return true;
  }
};

class IntoBuckets : public Vertex {
 public:
  Input<Vector<unsigned>> in, splitters;
  InOut<Vector<unsigned, VectorLayout::ONE_PTR>> out;
  unsigned capacity;

  bool compute() {
    empty_buckets(&out[0], splitters.size() + 1, capacity);
    into_buckets(&in[0], in.size(), &splitters[0], splitters.size(), &out[0], capacity);
    return true;
  }
};

class BucketsIntoBuckets : public Vertex {
 public:
  Input<Vector<unsigned>> in, splitters;
  InOut<Vector<unsigned, VectorLayout::ONE_PTR>> out;
  unsigned capacity, inCapacity;

  bool compute() {
    empty_buckets(&out[0], splitters.size() + 1, capacity);
    for (unsigned b = 0; b < in.size(); b += inCapacity)
      into_buckets(&in[b + 1], in[b] < inCapacity ? in[b] : 0, &splitters[0], splitters.size(), &out[0], capacity);
    return true;
  }
};

// All that is in the buckets, sorted, after their number; all ones: it does not fit, or a bucket was full.
class SortBuckets : public Vertex {
 public:
  Input<Vector<unsigned>> in;
  InOut<Vector<unsigned>> out;
  unsigned capacity;

  bool compute() {
    unsigned n = 0;
    bool fits = true;
    for (unsigned b = 0; b < in.size() && fits; b += capacity) {
      fits = in[b] < capacity && n + in[b] < out.size();
      if (!fits) break;
      memcpy(&out[1 + n], &in[b + 1], in[b] * sizeof(unsigned));
      n += in[b];
    }
    sort_numbers(&out[1], n);
    out[0] = fits ? n : ~0u;
    return true;
  }
};
