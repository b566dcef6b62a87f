// As blocked_product.cpp, with an epilogue: the first result's place holds C until its sums are complete.
#include "poplibs/poplin/codelets/matmul/blocked.h"

#ifdef __POPC__
#include <poplar/Vertex.hpp>

#include <type_traits>

#include "poplibs/poplin/codelets/epilogue.h"

namespace poplin {

template <bool accumulate>
class FinishedBlock : public poplar::SupervisorVertex {
 public:
  FinishedBlock();
  poplar::Vector<poplar::Input<poplar::Vector<float>>> a, b, operands;
  typename std::conditional<accumulate, poplar::InOut<poplar::Vector<float>>, poplar::Output<poplar::Vector<float>>>::type c;
  poplar::Vector<poplar::Output<poplar::Vector<float>>> more;
  poplar::Vector<unsigned> code;
  const unsigned n, k, a_width, b_height, b_width;

  bool compute() {
    multiply_blocks(*this, &c[0], accumulate);
    finish_elements(operands, code, &c[0], c.size(), more);
    return true;
  }
};

template class FinishedBlock<false>;
template class FinishedBlock<true>;

}  // namespace poplin
#else
#include "poplibs/poplin/codelets/epilogue.h"

namespace poplin {

using namespace pando::poplibs;

Estimates estimates_finished_block() {
  const auto cost = [](const VertexIntrospector& vertex, const Target& target) {
    return with_epilogue(estimate_blocked(vertex, target, poplar::FLOAT), vertex, target, vertex.getFieldInfo("c").size());
  };
  return {{"poplin::FinishedBlock<false>", cost}, {"poplin::FinishedBlock<true>", cost}};
}

}  // namespace poplin
#endif
