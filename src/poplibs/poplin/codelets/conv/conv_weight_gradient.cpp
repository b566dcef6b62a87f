// A block of the gradient of the weights: some input and output channels of some groups, summed over some of the outputs.
#ifdef __POPC__
#include <poplar/HalfFloat.hpp>
#include <poplar/Vertex.hpp>

#include "poplibs/poplin/codelets/conv/conv_block.h"

namespace poplin {

using namespace poplar;

template <class In, class Out>
class ConvWeightGradient : public SupervisorVertex {
 public:
  ConvWeightGradient();
  Vector<Input<Vector<In>>> in;
  Vector<Input<Vector<In>>> deltas;
  Vector<Output<Vector<Out>>> out;
  Vector<int> shape;

  bool compute() {
    ConvBlock block;
    ConvOperand input, gradient;
    read_block(shape, block, input, gradient);
    block.half_operands = IsHalf<In, half>::value;
    block.half_result = IsHalf<Out, half>::value;
    const unsigned groups = out.size();
    for (unsigned g = 0; g < groups; ++g) {
      read_pieces(in, g, in.size() / groups, block.batch * product_of(block, &ConvLine::in), input);
      read_pieces(deltas, g, deltas.size() / groups, block.batch * product_of(block, &ConvLine::out), gradient);
      pando_conv_weight_gradient(&block, &input, &gradient, out[g].data());
    }
    return true;
  }
};

template class ConvWeightGradient<float, float>;
template class ConvWeightGradient<half, float>;
template class ConvWeightGradient<half, half>;
template class ConvWeightGradient<float, half>;

}  // namespace poplin
#else
#include "poplibs/codelet_file.h"
#include "poplibs/poplin/conv/plan/cycles.h"

namespace poplin {

using namespace pando::poplibs;

Estimates estimates_conv_weight_gradient() {
  using namespace poplar;
  Estimates out;
  for (const auto& [in, result] : {std::pair(FLOAT, FLOAT), {HALF, FLOAT}, {HALF, HALF}, {FLOAT, HALF}})
    out.push_back({"poplin::ConvWeightGradient<" + in.toString() + "," + result.toString() + ">",
                   [in = in](const VertexIntrospector& v, const Target& target) {
                     const conv::BlockCost cost = conv::gradient_cost(target, in, v.getFieldInfo("shape").getInitialValues<int>(target));
                     const std::size_t groups = v.getFieldInfo("out").size();
                     return VertexPerfEstimate(groups * cost.cycles, groups * cost.flops);
                   }});
  return out;
}

}  // namespace poplin
#endif
