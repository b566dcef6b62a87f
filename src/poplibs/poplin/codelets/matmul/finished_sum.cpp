// As sum_partials.cpp, of floats, with an epilogue: the first result's place holds the sums.
#ifdef __POPC__
#include <poplar/Vertex.hpp>

#include "poplibs/poplin/codelets/epilogue.h"
#include "poplibs/poplin/codelets/matmul/sum.h"

namespace poplin {

class FinishedSum : public poplar::Vertex {
 public:
  FinishedSum();
  poplar::Vector<poplar::Input<poplar::Vector<float>>> in, operands;
  poplar::Output<poplar::Vector<float>> out;
  poplar::Vector<poplar::Output<poplar::Vector<float>>> more;
  poplar::Vector<unsigned> code;

  bool compute() {
    for (unsigned begin = 0, size = out.size(); begin < size; begin += kSumChunk)
      add_partials(in, begin, size - begin < kSumChunk ? size - begin : kSumChunk, &out[begin]);
    finish_elements(operands, code, &out[0], out.size(), more);
    return true;
  }
};

}  // namespace poplin
#else
#include "poplibs/codelet_file.h"
#include "poplibs/poplin/plan/cost.h"
#include "poplibs/popops/elementwise/epilogue.h"

namespace poplin {

using namespace pando::poplibs;

Estimates estimates_finished_sum() {
  using namespace poplar;
  return {{"poplin::FinishedSum", [](const VertexIntrospector& vertex, const Target& target) {
             const std::uint64_t n = vertex.getFieldInfo("out").size(), p = vertex.getFieldInfo("in").size();
             const std::vector<unsigned> code = vertex.getFieldInfo("code").getInitialValues<unsigned>(target);
             return VertexPerfEstimate(plan::sum_cycles(target, p, n, FLOAT), n * (p - 1)) + popops::internal::epilogue_cost(code, n, 1);
           }}};
}

}  // namespace poplin
#endif
