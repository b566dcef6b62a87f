// Rows of a convolution's result on the CPU device, of an image that lies whole on the tile.
#ifdef __POPC__
#include <poplar/Vertex.hpp>

#include "poplibs/poplin/codelets/conv/convolve.h"

namespace poplin {

class ConvRows : public poplar::Vertex {
 public:
  ConvRows();
  poplar::Input<poplar::Vector<float>> in, weights;
  poplar::Output<poplar::Vector<float>> out;
  // An epilogue, if there is code: its other results, which lie as `out` does, and its operands. Rows are pixels.
  poplar::Vector<poplar::Output<poplar::Vector<float>>> more;
  poplar::Vector<poplar::Input<poplar::Vector<float>>> operands;
  poplar::Vector<unsigned> strides, code;
  poplar::Vector<int> shape;  // conv_shape.h

  bool compute() {
    convolve(*this, pando_conv_rows);
    return true;
  }
};

}  // namespace poplin
#else
#include "poplibs/codelet_file.h"

namespace poplin {

using namespace pando::poplibs;

// Two products a cycle, and for each element of the result two words of the epilogue.
Estimates estimates_conv_rows() {
  using namespace poplar;
  return {{"poplin::ConvRows", [](const VertexIntrospector& vertex, const Target& target) {
             const std::vector<int> shape = vertex.getFieldInfo("shape").getInitialValues<int>(target);
             const std::uint64_t of_one =
                 static_cast<std::uint64_t>(shape[1]) * static_cast<std::uint64_t>(shape[6]) * static_cast<std::uint64_t>(shape[10]);
             const std::uint64_t elements = vertex.getFieldInfo("out").size(), products = elements * of_one,
                                 words = elements * vertex.getFieldInfo("code").size();
             return VertexPerfEstimate(30 + (products + words) / 2, 2 * products + words);
           }}};
}

}  // namespace poplin
#endif
