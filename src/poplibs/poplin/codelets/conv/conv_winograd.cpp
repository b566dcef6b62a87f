// As conv_rows.cpp, for kernels of 3 x 3 whose weights conv_winograd_weights.cpp has turned.
#ifdef __POPC__
#include <poplar/Vertex.hpp>

#include "kernels/conv_winograd.h"
#include "poplibs/poplin/codelets/conv/conv_shape.h"

namespace poplin {

class ConvWinograd : public poplar::Vertex {
 public:
  ConvWinograd();
  poplar::Input<poplar::Vector<float>> in, weights;
  poplar::Output<poplar::Vector<float>> out;
  poplar::Vector<int> shape;  // conv_shape.h

  bool compute() {
    const PandoConvRows conv = conv_of_shape(shape);
    pando_conv_winograd(&conv, &in[0], &weights[0], &out[0]);
    return true;
  }
};

}  // namespace poplin
#else
#include "poplibs/codelet_file.h"

namespace poplin {

using namespace pando::poplibs;

// Of each tile of four results: 16 products of its channels, two a cycle, and what is added up before and after them.
Estimates estimates_conv_winograd() {
  using namespace poplar;
  return {{"poplin::ConvWinograd", [](const VertexIntrospector& vertex, const Target& target) {
             const std::vector<int> shape = vertex.getFieldInfo("shape").getInitialValues<int>(target);
             const auto in = static_cast<std::uint64_t>(shape[10]), out = static_cast<std::uint64_t>(shape[11]);
             const std::uint64_t tiles = vertex.getFieldInfo("out").size() / (4 * out), products = tiles * 16 * in * out, sums = tiles * (32 * in + 24 * out);
             return VertexPerfEstimate(30 + (products + sums) / 2, 2 * products + sums);
           }}};
}

}  // namespace poplin
#endif
