// As view_product.cpp, with an epilogue: the first result's place holds C = A * B until its sums are complete.
#ifdef __POPC__
#include <poplar/Vertex.hpp>

#include "../epilogue.h"
#include "kernels/gemm/gemm.h"

namespace poplin {

class FinishedProduct : public poplar::Vertex {
 public:
  FinishedProduct();
  poplar::Input<poplar::Vector<float>> a, b;
  // Of one result after the other, its rows; one entry for each result if the rows of all follow each other.
  poplar::Vector<poplar::Output<poplar::Vector<float>>> results;
  poplar::Vector<poplar::Input<poplar::Vector<float>>> operands;
  poplar::Vector<unsigned> strides, code;
  const unsigned count;  // results
  const unsigned rows;
  const unsigned k;
  const unsigned a_begin, a_row, a_column;
  const unsigned b_begin, b_row, b_column;

  bool compute() {
    using namespace pando::kernels;
    MatrixOperand from[kMostEpilogueMatrices];
    MatrixResult to[kMostEpilogueMatrices];
    read_operands(operands, strides, from);
    const unsigned entries = results.size() / count, columns = entries == 1 ? results[0].size() / rows : results[0].size();
    const PandoEpilogue epilogue{code.data(), code.size(), from, to};
    for (unsigned i = 0, end; i < rows; i = end) {
      end = entries == 1 ? rows : end_of_run(entries, i);
      for (unsigned r = 0; r < count; ++r)
        to[r] = {&results[r * entries + i][0], end - i > 1 && entries > 1 ? distance(r * entries + i) : columns};
      multiply(i, end - i, columns, to[0], epilogue);
      for (unsigned o = 0; o < operands.size(); ++o) from[o].data += from[o].spread == Spread::matrix ? (end - i) * from[o].row : 0;
    }
    return true;
  }

 private:
  std::size_t distance(unsigned row) { return static_cast<std::size_t>(&results[row + 1][0] - &results[row][0]); }

  // Of rows from i on, those that lie evenly apart in each result.
  unsigned end_of_run(unsigned entries, unsigned i) {
    unsigned end = entries;
    for (unsigned r = 0; r < count; ++r) {
      const unsigned first = r * entries;
      unsigned next = i + 1;
      if (next < end && &results[first + next][0] > &results[first + i][0])
        while (next < end && distance(first + next - 1) == distance(first + i)) ++next;
      end = next;
    }
    return end;
  }

  void multiply(unsigned row, unsigned m, unsigned n, const pando::kernels::MatrixResult& c, const PandoEpilogue& epilogue) {
    const float* from_a = &a[0] + a_begin + static_cast<std::size_t>(row) * a_row;
    pando_gemm_packed(m, n, k, {from_a, a_row, a_column, false}, {&b[0] + b_begin, b_row, b_column, false}, c.data, c.row, 1, false,
                      &epilogue);
  }
};

}  // namespace poplin
#else
#include "poplibs/codelet_file.h"

namespace poplin {

using namespace pando::poplibs;

// Two products a cycle, and for each element of the result two words of the epilogue.
Estimates estimates_finished_product() {
  using namespace poplar;
  return {{"poplin::FinishedProduct", [](const VertexIntrospector& vertex, const Target& target) {
             const std::uint64_t k = vertex.getFieldInfo("k").getInitialValue<unsigned>(target),
                                 count = vertex.getFieldInfo("count").getInitialValue<unsigned>(target);
             const FieldData results = vertex.getFieldInfo("results");
             const std::uint64_t elements = results.size() / count * results.getSizeAtIndex(0), words = vertex.getFieldInfo("code").size();
             return VertexPerfEstimate(30 + elements * (k + words) / 2, elements * (2 * k + words));
           }}};
}

}  // namespace poplin
#endif
