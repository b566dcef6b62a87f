// Weights of kernels of 3 x 3 as ConvWinograd reads them: some of the pairs of channels.
#ifdef __POPC__
#include <poplar/Vertex.hpp>

#include "kernels/conv/conv_winograd.h"

namespace poplin {

class ConvWinogradWeights : public poplar::Vertex {
 public:
  ConvWinogradWeights();
  poplar::Input<poplar::Vector<float>> in;                    // all of them, [9][pairs]
  poplar::Vector<poplar::Output<poplar::Vector<float>>> out;  // 16
  const unsigned begin;

  bool compute() {
    float* parts[16];
    for (unsigned k = 0; k < 16; ++k) parts[k] = &out[k][0];
    pando_winograd_weights(in.size() / 9, begin, begin + out[0].size(), &in[0], parts);
    return true;
  }
};

}  // namespace poplin
#else
#include "poplibs/codelet_file.h"

namespace poplin {

using namespace pando::poplibs;

// 28 sums and halves, two a cycle.
Estimates estimates_conv_winograd_weights() {
  using namespace poplar;
  return {{"poplin::ConvWinogradWeights", [](const VertexIntrospector& vertex, const Target&) {
             const std::uint64_t pairs = vertex.getFieldInfo("out").getSizeAtIndex(0);
             return VertexPerfEstimate(30 + 14 * pairs, 28 * pairs);
           }}};
}

}  // namespace poplin
#endif
