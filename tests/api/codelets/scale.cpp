#include <poplar/Vertex.hpp>

using namespace poplar;

class Scale : public Vertex {
 public:
  Input<Vector<float>> x;
  Output<Vector<float>> y;
  float factor;
  void compute() {
    for (unsigned i = 0; i < y.size(); ++i) y[i] = x[i] * factor;
  }
};

class ScaleInt : public Vertex {
 public:
  Input<int> one;
  Output<Vector<int>> y;
  void compute() {
    for (unsigned i = 0; i < y.size(); ++i) y[i] = one;
  }
};

class Rows : public Vertex {
 public:
  Vector<Input<Vector<float>>> rows;
  Output<float> sum;
  unsigned short weight;
  Vector<float> offsets;
  void compute() {
    float total = 0;
    for (unsigned r = 0; r < rows.size(); ++r)
      for (unsigned i = 0; i < rows[r].size(); ++i) total += rows[r][i];
    *sum = total * weight + offsets[0];
  }
};
