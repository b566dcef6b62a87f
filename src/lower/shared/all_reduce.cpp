#include "lower/shared/all_reduce.h"

#include "lower/replicas.h"
#include "lower/shared/element_types.h"

namespace pando::lower {

using poplar::Tensor;

// Combined where the first operand lies, and copied to where the results lie.
void reduce_over_devices(OpLowering& o) {
  o.lowering().need(Library::popops);
  std::vector<Tensor> rows;
  for (std::size_t i = 0; i < o.operands(); ++i) {
    const Tensor own = o.operand(i).flatten();
    if (o.operand_type(i).place == o.operand_type(0).place) {
      rows.push_back(own.expand({0}));
      continue;
    }
    const Tensor here = o.graph().clone(o.operand(0).flatten(), o.name() + "/gathered");
    o.program().add(poplar::program::Copy(own, here, false, o.name()));
    rows.push_back(here.expand({0}));
  }
  const Tensor sum = combined(o, poplar::concat(rows));
  for (std::size_t r = 0; r < o.results(); ++r) {
    if (o.lowering().analysis().uses(o.module().result(o.op(), r)) == 0) {
      o.result(r, sum);
      continue;
    }
    const Tensor to = o.fresh(r);
    o.program().add(poplar::program::Copy(sum.reshape(extents(o.result_type(r).shape)), to, false, o.name()));
    o.result(r, to);
  }
}

}  // namespace pando::lower
