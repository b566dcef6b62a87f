#include "lower/lowering.h"

namespace pando::lower {

namespace {

// On the CPU device products read matrices where they lie if each is evenly spaced. One that several of them read is put together once, not
// by each; parts that were computed where they belong are there already.
void put_together(OpLowering& o, const std::vector<poplar::Tensor>& parts, unsigned axis) {
  Lowering& l = o.lowering();
  const poplar::Tensor whole = l.whole_of(o.op());
  std::size_t begin = 0;
  std::vector<poplar::Tensor> to;
  for (const poplar::Tensor& part : parts) {
    to.push_back(whole.slice(begin, begin + part.dim(axis), axis));
    begin += part.dim(axis);
  }
  l.assign_all(to, parts);
  l.define(o.module().result(o.op()), l.fresh_slot(whole));
}

}  // namespace

extern const Row lower_concat;
constexpr Row lower_concat = {
    .name = "concat",
    .lower =
        [](OpLowering& o) {
          std::vector<poplar::Tensor> parts;
          const auto axis = static_cast<unsigned>(o.attributes().integer("axis"));
          for (std::size_t i = 0; i < o.operands(); ++i) parts.push_back(o.operand(i));
          if (o.lowering().is_put_together(o.op())) return put_together(o, parts, axis);
          o.result_view(0, poplar::concat(parts, axis));
        },
};

}  // namespace pando::lower
