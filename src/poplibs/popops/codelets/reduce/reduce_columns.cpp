// Reduces the rows of a matrix to one, for some of its columns: `in` is what lies between their first and their last element.
#include "poplibs/popops/codelets/reduce/reduce_types.h"

#ifdef __POPC__
namespace popops {

template <class In, class Out>
class ReduceColumns : public poplar::Vertex {
 public:
  ReduceColumns();
  poplar::Input<poplar::Vector<In>> in;
  poplar::Output<poplar::Vector<Out>> out;
  const unsigned row;      // elements from one row to the next
  const unsigned char op;  // popops::Operation

  bool compute() {
    const std::size_t rows = (in.size() - out.size()) / row + 1;
    pando_reduce_columns(static_cast<PandoReduceOp>(op), kReduceType<In>, kReduceType<Out>, in.begin(), rows, row, out.size(), &out[0]);
    return true;
  }
};

POPOPS_REDUCE_INSTANTIATIONS(ReduceColumns)

}  // namespace popops
#else
namespace popops {

pando::poplibs::Estimates estimates_reduce_columns() {
  return reduce_estimates("popops::ReduceColumns", [](const poplar::VertexIntrospector& vertex, const poplar::Target& target) {
    const std::uint64_t outputs = vertex.getFieldInfo("out").size(), row = vertex.getFieldInfo("row").getInitialValue<unsigned>(target);
    const std::uint64_t rows = (vertex.getFieldInfo("in").size() - outputs) / row + 1;
    return ReduceWork{rows * outputs, 1, rows};
  });
}

}  // namespace popops
#endif
