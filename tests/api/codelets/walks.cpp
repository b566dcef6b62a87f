// Loops that stay inside their fields or do not: by what they are told.
#include <poplar/Vertex.hpp>

#include "walks.h"

using namespace poplar;

class Walks : public Vertex {
 public:
  Input<Vector<float>> in;
  InOut<Vector<float>> out;
  Input<Vector<int>> told;

  void compute() { walk(told[0], &in[0], &out[0], told[1], told[2]); }
};
