// ConvRows and ConvWinograd of halfs. The weights are floats.
#ifdef __POPC__
#include <poplar/Vertex.hpp>

#include "kernels/conv/conv_half.h"
#include "poplibs/poplin/codelets/conv/conv_shape.h"

namespace poplin {

class ConvRowsHalf : public poplar::Vertex {
 public:
  ConvRowsHalf();
  poplar::Input<poplar::Vector<half>> in;
  poplar::Input<poplar::Vector<float>> weights;
  poplar::Output<poplar::Vector<half>> out;
  poplar::Vector<int> shape;  // conv_shape.h
  const bool winograd;

  bool compute() {
    const PandoConvRows conv = conv_of_shape(shape);
    pando_conv_rows_f16(&conv, winograd, &in[0], &weights[0], &out[0]);
    return true;
  }
};

}  // namespace poplin
#else
#include "poplibs/codelet_file.h"

namespace poplin {

using namespace pando::poplibs;

// Four products a cycle, or as many as 16 for 36.
Estimates estimates_conv_rows_half() {
  using namespace poplar;
  return {{"poplin::ConvRowsHalf", [](const VertexIntrospector& vertex, const Target& target) {
             const std::vector<int> shape = vertex.getFieldInfo("shape").getInitialValues<int>(target);
             const bool winograd = vertex.getFieldInfo("winograd").getInitialValue<bool>(target);
             const std::uint64_t of_one =
                 static_cast<std::uint64_t>(shape[1]) * static_cast<std::uint64_t>(shape[6]) * static_cast<std::uint64_t>(shape[10]);
             const std::uint64_t products = vertex.getFieldInfo("out").size() * of_one * (winograd ? 4 : 9) / 9;
             return VertexPerfEstimate(30 + products / 4, 2 * products);
           }}};
}

}  // namespace poplin
#endif
