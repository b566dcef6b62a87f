// As conv_forward.cpp, of floats, with an epilogue: the first result's place holds the convolution's until that is complete.
#ifdef __POPC__
#include <poplar/HalfFloat.hpp>
#include <poplar/Vertex.hpp>

#include "poplibs/poplin/codelets/conv/conv_block.h"
#include "poplibs/poplin/codelets/epilogue.h"

namespace poplin {

using namespace poplar;

class FinishedConv : public SupervisorVertex {
 public:
  FinishedConv();
  Vector<Input<Vector<float>>> in;
  Vector<Input<Vector<float>>> weights;
  Vector<Output<Vector<float>>> out;
  // Of one group after the other.
  Vector<Input<Vector<float>>> operands;
  Vector<Output<Vector<float>>> more;
  Vector<unsigned> code;
  Vector<int> shape;

  bool compute() {
    ConvBlock block;
    ConvOperand input, kernel;
    read_block(shape, block, input, kernel);
    block.half_operands = block.half_result = false;
    const unsigned groups = out.size();
    for (unsigned g = 0; g < groups; ++g) {
      read_pieces(in, g, in.size() / groups, block.batch * product_of(block, &ConvLine::in), input);
      read_pieces(weights, g, weights.size() / groups, product_of(block, &ConvLine::taps) * block.out_channels, kernel);
      pando_conv_forward(&block, &input, &kernel, out[g].data());
      finish_elements(operands, code, out[g].data(), out[g].size(), more, g, groups);
    }
    return true;
  }
};

}  // namespace poplin
#else
#include "poplibs/codelet_file.h"
#include "poplibs/poplin/codelets/epilogue.h"
#include "poplibs/poplin/conv/plan/cycles.h"

namespace poplin {

using namespace pando::poplibs;

Estimates estimates_finished_conv() {
  using namespace poplar;
  return {{"poplin::FinishedConv", [](const VertexIntrospector& v, const Target& target) {
             const conv::BlockCost cost = conv::forward_cost(target, FLOAT, v.getFieldInfo("shape").getInitialValues<int>(target));
             const FieldData out = v.getFieldInfo("out");
             VertexPerfEstimate total;
             for (std::size_t g = 0; g < out.size(); ++g)
               total += with_epilogue(VertexPerfEstimate(cost.cycles, cost.flops), v, target, out.getSizeAtIndex(g));
             return total;
           }}};
}

}  // namespace poplin
#endif
