// As reduce_blocks.cpp and reduce_columns.cpp, of floats and halfs, with an epilogue: the first result's place holds what has been reduced.
#include "poplibs/popops/codelets/reduce/reduce_types.h"

#ifdef __POPC__
#include "poplibs/popops/codelets/elementwise/finish_elements.h"

namespace popops {

template <class In, class Out>
class FinishedReduce : public poplar::Vertex {
 public:
  FinishedReduce();
  poplar::Vector<poplar::Input<poplar::Vector<In>>> in;
  poplar::Output<poplar::Vector<Out>> out;
  poplar::Vector<poplar::Input<poplar::Vector<Out>>> operands;
  poplar::Vector<poplar::Output<poplar::Vector<Out>>> more;
  poplar::Input<float> scale;             // looked at if `scaled`
  const poplar::Vector<unsigned> blocks;  // regions, outputs, middle, inner of each
  poplar::Vector<unsigned> code;
  const unsigned row;      // unless 0: of the one region, elements from one row to the next
  const unsigned char op;  // popops::Operation
  const bool scaled;

  bool compute() {
    if (row > 0) {
      const std::size_t rows = (in[0].size() - out.size()) / row + 1;
      pando_reduce_columns(static_cast<PandoReduceOp>(op), kReduceType<In>, kReduceType<Out>, in[0].begin(), rows, row, out.size(),
                           &out[0]);
    } else {
      const float factor = scale;
      reduce_list<In>(op, kReduceType<Out>, in, blocks, &out[0], scaled ? &factor : nullptr, false);
    }
    finish_elements(operands, code, &out[0], out.size(), more);
    return true;
  }
};

template class FinishedReduce<float, float>;
template class FinishedReduce<float, half>;
template class FinishedReduce<half, float>;
template class FinishedReduce<half, half>;

}  // namespace popops
#else
#include "poplibs/popops/elementwise/epilogue.h"

namespace popops {

pando::poplibs::Estimates estimates_finished_reduce() {
  using namespace poplar;
  pando::poplibs::Estimates rows;
  for (const Type& in : {FLOAT, HALF})
    for (const Type& out : {FLOAT, HALF})
      rows.push_back({"popops::FinishedReduce<" + in.toString() + "," + out.toString() + ">",
                      [in](const VertexIntrospector& vertex, const Target& target) {
                        const std::uint64_t outputs = vertex.getFieldInfo("out").size(),
                                            row = vertex.getFieldInfo("row").getInitialValue<unsigned>(target);
                        ReduceWork work = work_of_list(vertex, target);
                        if (row > 0) work = {((work.elements - outputs) / row + 1) * outputs, 1, (work.elements - outputs) / row + 1};
                        const std::vector<unsigned> code = vertex.getFieldInfo("code").getInitialValues<unsigned>(target);
                        return reduce_estimate(vertex.getFieldInfo("op").getInitialValue<unsigned>(target), in, work, outputs) +
                               internal::epilogue_cost(code, outputs, 1);
                      }});
  return rows;
}

}  // namespace popops
#endif
