// As conv_rows.cpp, for kernels of 3 x 3 whose weights conv_winograd_weights.cpp has turned.
#ifdef __POPC__
#include <poplar/Vertex.hpp>

#include "kernels/conv/conv_winograd.h"
#include "poplibs/poplin/codelets/conv/convolve.h"

namespace poplin {

class ConvWinograd : public poplar::Vertex {
 public:
  ConvWinograd();
  poplar::Input<poplar::Vector<float>> in, weights;
  poplar::Output<poplar::Vector<float>> out;
  // An epilogue, if there is code: its other results, which lie as `out` does, and its operands. Rows are pixels.
  poplar::Vector<poplar::Output<poplar::Vector<float>>> more;
  poplar::Vector<poplar::Input<poplar::Vector<float>>> operands;
  poplar::Vector<unsigned> strides, code;
  poplar::Vector<int> shape;  // conv_shape.h

  bool compute() {
    convolve(*this, pando_conv_winograd);
    return true;
  }
};

}  // namespace poplin
#else
#include "poplibs/codelet_file.h"

namespace poplin {

using namespace pando::poplibs;

// Of each tile of four results: 16 products of its channels, two a cycle, and what is added up before and after them; two words of the
// epilogue.
Estimates estimates_conv_winograd() {
  using namespace poplar;
  return {{"poplin::ConvWinograd", [](const VertexIntrospector& vertex, const Target& target) {
             const std::vector<int> shape = vertex.getFieldInfo("shape").getInitialValues<int>(target);
             const auto in = static_cast<std::uint64_t>(shape[10]), out = static_cast<std::uint64_t>(shape[11]);
             const std::uint64_t tiles = vertex.getFieldInfo("out").size() / (4 * out), products = tiles * 16 * in * out,
                                 sums = tiles * (32 * in + 24 * out);
             const std::uint64_t words = tiles * 4 * out * vertex.getFieldInfo("code").size();
             return VertexPerfEstimate(30 + (products + sums + words) / 2, 2 * products + sums + words);
           }}};
}

}  // namespace poplin
#endif
