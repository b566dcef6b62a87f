#include "lower/parts/op_lowering.h"
#include "lower/parts/parts.h"
#include "lower/terms/moving.h"

#include <algorithm>

namespace pando::lower {

namespace {

// A view of so many pieces, each of so few elements, takes longer to handle than a copy.
constexpr std::size_t kManyPieces = 1 << 16;
bool is_fine_grained(const std::vector<poplar::Tensor>& parts, unsigned axis) {
  std::size_t outer = 1, inner = 1, shortest = parts[0].dim(axis);
  for (unsigned d = 0; d < parts[0].rank(); ++d) (d < axis ? outer : inner) *= d == axis ? 1 : parts[0].dim(d);
  for (const poplar::Tensor& part : parts) shortest = std::min(shortest, part.dim(axis));
  return parts.size() > 1 && shortest * inner < kMovedTogether && outer * parts.size() >= kManyPieces;
}

// In a chain of concatenations each reads all that came before it. What lies in so many places is copied together: a view of a hundred
// parts, and one of each part less, are handled by all who read them.
constexpr std::size_t kManyStorages = 8;
bool ends_chain(OpLowering& o) {
  for (std::size_t i = 0; i < o.operands(); ++i)
    if (o.parts().storages.slot(o.module().operand(o.op(), i)).storages.size() > kManyStorages) return true;
  return false;
}

void assign(OpLowering& o, const poplar::Tensor& whole, const std::vector<poplar::Tensor>& parts, unsigned axis) {
  std::size_t begin = 0;
  std::vector<poplar::Tensor> to;
  for (const poplar::Tensor& part : parts) {
    to.push_back(whole.slice(begin, begin + part.dim(axis), axis));
    begin += part.dim(axis);
  }
  o.assign_all(to, parts);
}

// On the CPU device products read matrices where they lie if each is evenly spaced. One that several of them read is put together once, not
// by each; parts that were computed where they belong are there already.
void put_together(OpLowering& o, const std::vector<poplar::Tensor>& parts, unsigned axis) {
  const poplar::Tensor whole = o.parts().destinations.whole_of(o.op());
  assign(o, whole, parts, axis);
  Storages& storages = o.parts().storages;
  storages.define(o.module().result(o.op()), storages.fresh_slot(whole));
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
          if (o.parts().destinations.is_put_together(o.op())) return put_together(o, parts, axis);
          if (o.in_place() || (!is_fine_grained(parts, axis) && !ends_chain(o))) return o.result_view(0, poplar::concat(parts, axis));
          const poplar::Tensor whole = o.fresh();
          assign(o, whole, parts, axis);
          o.result(0, whole);
        },
};

}  // namespace pando::lower
