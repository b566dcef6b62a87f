// a = b + scale * c: the vertex of triad.S.
#include <poplar/Vertex.hpp>

class Triad : public poplar::Vertex {
 public:
  poplar::Input<poplar::Vector<float, poplar::VectorLayout::ONE_PTR, 8>> b, c;
  poplar::Output<poplar::Vector<float, poplar::VectorLayout::ONE_PTR, 8>> a;
  unsigned pairs;
  float scale;
  static const bool isExternalCodelet = true;
  bool compute();
};
