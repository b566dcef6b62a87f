// ReduceBlocks with a scale, and with an output that may take part in the reduction.
#include "poplibs/popops/codelets/reduce/reduce_types.h"

#ifdef __POPC__
namespace popops {

template <class In, class Out>
class ReduceUpdate : public poplar::Vertex {
 public:
  ReduceUpdate();
  poplar::Vector<poplar::Input<poplar::Vector<In>>> in;
  poplar::InOut<poplar::Vector<Out>> out;
  poplar::Input<float> scale;             // looked at if `scaled`
  const poplar::Vector<unsigned> blocks;  // regions, outputs, middle, inner of each
  const unsigned char op;                 // popops::Operation
  const bool scaled, update;

  bool compute() {
    const float factor = scale;
    reduce_list<In>(op, kReduceType<Out>, in, blocks, &out[0], scaled ? &factor : nullptr, update);
    return true;
  }
};

POPOPS_REDUCE_INSTANTIATIONS(ReduceUpdate)

}  // namespace popops
#else
namespace popops {

pando::poplibs::Estimates estimates_reduce_update() { return reduce_estimates("popops::ReduceUpdate", &work_of_list); }

}  // namespace popops
#endif
