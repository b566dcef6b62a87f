// A block of a convolution: some outputs of some groups, summed over some input channels.
#ifdef __POPC__
#include <poplar/HalfFloat.hpp>
#include <poplar/Vertex.hpp>

#include "poplibs/poplin/codelets/conv/conv_block.h"

namespace poplin {

using namespace poplar;

template <class In, class Out>
class ConvForward : public SupervisorVertex {
 public:
  ConvForward();
  Vector<Input<Vector<In>>> in;
  Vector<Input<Vector<In>>> weights;
  Vector<Output<Vector<Out>>> out;
  Vector<int> shape;

  bool compute() {
    ConvBlock block;
    ConvOperand input, kernel;
    read_block(shape, block, input, kernel);
    block.half_operands = IsHalf<In, half>::value;
    block.half_result = IsHalf<Out, half>::value;
    const unsigned groups = out.size();
    for (unsigned g = 0; g < groups; ++g) {
      read_pieces(in, g, in.size() / groups, block.batch * product_of(block, &ConvLine::in), input);
      read_pieces(weights, g, weights.size() / groups, product_of(block, &ConvLine::taps) * block.out_channels, kernel);
      pando_conv_forward(&block, &input, &kernel, out[g].data());
    }
    return true;
  }
};

template class ConvForward<float, float>;
template class ConvForward<half, float>;
template class ConvForward<half, half>;
template class ConvForward<float, half>;

}  // namespace poplin
#else
#include "poplibs/codelet_file.h"
#include "poplibs/poplin/conv/plan/cycles.h"

namespace poplin {

using namespace pando::poplibs;

Estimates estimates_conv_forward() {
  using namespace poplar;
  Estimates out;
  for (const auto& [in, result] : {std::pair(FLOAT, FLOAT), {HALF, FLOAT}, {HALF, HALF}, {FLOAT, HALF}})
    out.push_back({"poplin::ConvForward<" + in.toString() + "," + result.toString() + ">",
                   [in = in](const VertexIntrospector& v, const Target& target) {
                     const conv::BlockCost cost = conv::forward_cost(target, in, v.getFieldInfo("shape").getInitialValues<int>(target));
                     const std::size_t groups = v.getFieldInfo("out").size();
                     return VertexPerfEstimate(groups * cost.cycles, groups * cost.flops);
                   }});
  return out;
}

}  // namespace poplin
#endif
