// Rows of a convolution's result on the CPU device, of an image that lies whole on the tile.
#ifdef __POPC__
#include <poplar/Vertex.hpp>

#include "kernels/conv_rows.h"

namespace poplin {

class ConvRows : public poplar::Vertex {
 public:
  ConvRows();
  poplar::Input<poplar::Vector<float>> in, weights;
  poplar::Output<poplar::Vector<float>> out;
  // Of the rows and of the columns: in, taps, stride, offset, step; then in and out channels, the first row and the end, columns; then the strides of the input.
  poplar::Vector<int> shape;

  bool compute() {
    const auto axis = [this](unsigned at) { return PandoConvAxis{shape[at], shape[at + 1], shape[at + 2], shape[at + 3], shape[at + 4]}; };
    const auto size = [this](unsigned at) { return static_cast<std::size_t>(shape[at]); };
    const PandoConvRows conv{axis(0), axis(5), shape[10], shape[11], shape[12], shape[13], shape[14], size(15), size(16), size(17), size(11), size(11)};
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
