#include "lower/shared/all_reduce.h"

#include "lower/parts/parts.h"
#include "lower/shared/replicas.h"
#include "lower/terms/element_types.h"

namespace pando::lower {

using poplar::Tensor;

// Combined at the op's place, which is that of the first result, and copied to where the results lie.
void reduce_over_devices(OpLowering& o) {
  o.need(Library::popops);
  const auto is_here = [&](std::size_t i) { return &o.parts().places.graph_at(o.operand_type(i).place) == &o.graph(); };
  std::size_t first = 0;
  while (first < o.operands() && !is_here(first)) ++first;
  std::vector<Tensor> rows;
  for (std::size_t i = 0; i < o.operands(); ++i) {
    const Tensor own = o.operand(i).flatten();
    if (is_here(i)) {
      rows.push_back(own.expand({0}));
      continue;
    }
    const std::string name = o.name() + "/gathered";
    const Tensor here =
        first < o.operands() ? o.graph().clone(o.operand(first).flatten(), name) : add_linear(o.graph(), o.operand_type(i), name).flatten();
    o.program().add(poplar::program::Copy(own, here, false, o.name()));
    rows.push_back(here.expand({0}));
  }
  const Tensor sum = combined(o, poplar::concat(rows));
  for (std::size_t r = 0; r < o.results(); ++r) {
    if (o.parts().storages.reads(o.module().result(o.op(), r)) == 0) {
      o.result(r, sum);
      continue;
    }
    const Tensor to = o.fresh(r);
    o.program().add(poplar::program::Copy(sum.reshape(extents(o.result_type(r).shape)), to, false, o.name()));
    o.result(r, to);
  }
}

}  // namespace pando::lower
