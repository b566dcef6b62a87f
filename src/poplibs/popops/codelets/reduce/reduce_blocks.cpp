// Reduces a list of blocks, each of some regions to some outputs, side by side in `out`: see kernels/rows/reduce.h.
#include "poplibs/popops/codelets/reduce/reduce_types.h"

#ifdef __POPC__
namespace popops {

template <class In, class Out>
class ReduceBlocks : public poplar::Vertex {
 public:
  ReduceBlocks();
  poplar::Vector<poplar::Input<poplar::Vector<In>>> in;
  poplar::Output<poplar::Vector<Out>> out;
  const poplar::Vector<unsigned> blocks;  // regions, outputs, middle, inner of each
  const unsigned char op;                 // popops::Operation

  bool compute() {
    reduce_list<In>(op, kReduceType<Out>, in, blocks, &out[0], nullptr, false);
    return true;
  }
};

POPOPS_REDUCE_INSTANTIATIONS(ReduceBlocks)

}  // namespace popops
#else
namespace popops {

pando::poplibs::Estimates estimates_reduce_blocks() { return reduce_estimates("popops::ReduceBlocks", &work_of_list); }

}  // namespace popops
#endif
