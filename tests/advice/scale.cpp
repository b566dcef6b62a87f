// Codelets of programs.cpp.
#include <poplar/Vertex.hpp>

class Scale : public poplar::Vertex {
 public:
  poplar::InOut<poplar::Vector<float>> x;
  void compute() {
    for (unsigned i = 0; i < x.size(); ++i) x[i] = x[i] * 0.5f + 1.0f;
  }
};

class ScaleInterleaved : public poplar::Vertex {
 public:
  poplar::InOut<poplar::Vector<float, poplar::VectorLayout::SPAN, 16, true>> x;
  void compute() {
    for (unsigned i = 0; i < x.size(); ++i) x[i] = x[i] * 0.5f + 1.0f;
  }
};

class Precise : public poplar::Vertex {
 public:
  poplar::InOut<poplar::Vector<float>> x;
  void compute() {
    for (unsigned i = 0; i < x.size(); ++i) x[i] = static_cast<float>(static_cast<double>(x[i]) * 0.1);
  }
};
