#include "lower/lowering.h"

#include <algorithm>

namespace pando::lower {

namespace {

// On the CPU device products read matrices where they lie if each is evenly spaced. One that several of them read is put together once, not by each.
bool is_put_together(OpLowering& o) {
  Lowering& l = o.lowering();
  if (l.top_graph().getTarget().getTargetType() != poplar::TargetType::CPU || !l.options().fuse) return false;
  const auto& users = l.analysis().users(o.module().result(o.op()));
  return std::count_if(users.begin(), users.end(), [&](const auto& use) { return o.module().row(use.first).name == "matmul"; }) > 1;
}

}  // namespace

extern const Row lower_concat;
constexpr Row lower_concat = {
    .name = "concat",
    .lower =
        [](OpLowering& o) {
          std::vector<poplar::Tensor> parts;
          for (std::size_t i = 0; i < o.operands(); ++i) parts.push_back(o.operand(i));
          const poplar::Tensor whole = poplar::concat(parts, static_cast<unsigned>(o.attributes().integer("axis")));
          if (!is_put_together(o)) return o.result_view(0, whole);
          const poplar::Tensor copy = o.fresh(0);
          o.program().add(poplar::program::Copy(whole, copy, false, o.name()));
          o.result(0, copy);
        },
};

}  // namespace pando::lower
