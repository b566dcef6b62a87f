// Rows of a convolution's result on the CPU device, of an image that lies whole on the tile.
#ifdef __POPC__
#include <poplar/Vertex.hpp>

#include "poplibs/poplin/codelets/conv/conv_shape.h"

namespace poplin {

class ConvRows : public poplar::Vertex {
 public:
  ConvRows();
  poplar::Input<poplar::Vector<float>> in, weights;
  poplar::Output<poplar::Vector<float>> out;
  poplar::Vector<int> shape;  // conv_shape.h

  bool compute() {
    const PandoConvRows conv = conv_of_shape(shape);
    pando_conv_rows(&conv, &in[0], &weights[0], &out[0]);
    return true;
  }
};

}  // namespace poplin
#else
#include "poplibs/codelet_file.h"

namespace poplin {

using namespace pando::poplibs;

// Two products a cycle.
Estimates estimates_conv_rows() {
  using namespace poplar;
  return {{"poplin::ConvRows", [](const VertexIntrospector& vertex, const Target& target) {
             const std::vector<int> shape = vertex.getFieldInfo("shape").getInitialValues<int>(target);
             const std::uint64_t of_one = static_cast<std::uint64_t>(shape[1]) * static_cast<std::uint64_t>(shape[6]) * static_cast<std::uint64_t>(shape[10]);
             const std::uint64_t products = vertex.getFieldInfo("out").size() * of_one;
             return VertexPerfEstimate(30 + products / 2, 2 * products);
           }}};
}

}  // namespace poplin
#endif
