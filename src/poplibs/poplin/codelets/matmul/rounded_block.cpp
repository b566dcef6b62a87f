// As finished_block.cpp, of halfs: `c` has the sums, of float, and `out` gets them rounded when they are complete. Without words there is
// no epilogue.
#include "poplibs/poplin/codelets/matmul/blocked.h"

#ifdef __POPC__
#include <poplar/Vertex.hpp>

#include <type_traits>

#include "poplibs/poplin/codelets/epilogue.h"

namespace poplin {

template <bool accumulate>
class RoundedBlock : public poplar::SupervisorVertex {
 public:
  RoundedBlock();
  poplar::Vector<poplar::Input<poplar::Vector<half>>> a, b, operands;
  typename std::conditional<accumulate, poplar::InOut<poplar::Vector<float>>, poplar::Output<poplar::Vector<float>>>::type c;
  poplar::Output<poplar::Vector<half>> out;
  poplar::Vector<poplar::Output<poplar::Vector<half>>> more;
  poplar::Vector<unsigned> code;
  const unsigned n, k, a_width, b_height, b_width;

  bool compute() {
    multiply_blocks(*this, &c[0], accumulate);
    pando_convert(pando::kernels::Type::f32, pando::kernels::Type::f16, &c[0], &out[0], out.size());
    if (code.size() > 0) finish_elements(operands, code, &out[0], out.size(), more);
    return true;
  }
};

template class RoundedBlock<false>;
template class RoundedBlock<true>;

}  // namespace poplin
#else
#include "poplibs/poplin/codelets/epilogue.h"

namespace poplin {

using namespace pando::poplibs;

// Six bytes are loaded and stored for each element that is rounded, eight in a cycle.
Estimates estimates_rounded_block() {
  const auto cost = [](const VertexIntrospector& vertex, const Target& target) {
    const std::uint64_t n = vertex.getFieldInfo("out").size();
    return with_epilogue(estimate_blocked(vertex, target, poplar::HALF) + (n * 6 + 7) / 8, vertex, target, n);
  };
  return {{"poplin::RoundedBlock<false>", cost}, {"poplin::RoundedBlock<true>", cost}};
}

}  // namespace poplin
#endif
