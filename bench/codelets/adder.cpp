#include <poplar/Vertex.hpp>

class Adder : public poplar::Vertex {
 public:
  poplar::Input<float> a, b;
  poplar::Output<float> sum;
  void compute() { *sum = a + b; }
};
