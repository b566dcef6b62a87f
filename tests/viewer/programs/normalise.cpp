// A codelet whose cycles the viewer shows by line: rows of numbers less their mean.
#include <poplar/Vertex.hpp>

class Normalise : public poplar::Vertex {
 public:
  poplar::Input<poplar::Vector<float>> in;
  poplar::Output<poplar::Vector<float>> out;

  void compute() {
    float sum = 0;
    for (unsigned i = 0; i < in.size(); ++i) sum += in[i];
    const float mean = sum / in.size();
    for (unsigned i = 0; i < out.size(); ++i) {
      const float x = in[i] - mean;
      out[i] = x < 0 ? 0 : x;
    }
  }
};
