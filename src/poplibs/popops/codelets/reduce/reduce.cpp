// Reduces one contiguous array [n][out.size() / inner][middle][inner] over its first and third dimension; rows of `inner` elements if
// out.size() == inner.
#include "poplibs/popops/codelets/reduce/reduce_types.h"

#ifdef __POPC__
namespace popops {

template <class In, class Out>
class Reduce : public poplar::Vertex {
 public:
  Reduce();
  poplar::Input<poplar::Vector<In>> in;
  poplar::Output<poplar::Vector<Out>> out;
  const unsigned middle, inner;
  const unsigned char op;  // popops::Operation

  bool compute() {
    const PandoReduceRegion region = {in.begin(), in.size()};
    const PandoReduceBlock block = {1, static_cast<unsigned>(out.size()), middle, inner};
    pando_reduce(static_cast<PandoReduceOp>(op), kReduceType<In>, kReduceType<Out>, &region, &block, 1, &out[0], nullptr, false);
    return true;
  }
};

POPOPS_REDUCE_INSTANTIATIONS(Reduce)

}  // namespace popops
#else
namespace popops {

pando::poplibs::Estimates estimates_reduce() {
  return reduce_estimates("popops::Reduce", [](const poplar::VertexIntrospector& vertex, const poplar::Target&) {
    return ReduceWork{vertex.getFieldInfo("in").size(), 1};
  });
}

}  // namespace popops
#endif
