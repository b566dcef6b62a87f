#include "lower/parts/op_lowering.h"
#include "lower/terms/moving.h"
#include "lower/shared/reductions.h"

#include <popops/TopK.hpp>

namespace pando::lower {

using poplar::Tensor;

extern const Row lower_topk;
constexpr Row lower_topk = {
    .name = "topk",
    .lower =
        [](OpLowering& o) {
          o.need(Library::popops);
          const auto axis = static_cast<unsigned>(o.attributes().integer("axis"));
          const bool largest = o.attributes().flag("largest");
          const popops::TopKParams params(static_cast<unsigned>(o.attributes().integer("k")), largest,
                                          largest ? popops::SortOrder::DESCENDING : popops::SortOrder::ASCENDING);
          const Tensor t = widened(o, o.operand(0));
          const auto [values, positions] =
              popops::topKWithPermutation(o.graph(), o.program(), with_whole_rows(o, t.dimRoll(axis, t.rank() - 1)), params, o.name());
          o.result(0, as_result(o, values.dimRoll(t.rank() - 1, axis)));
          o.result(1, positions.reinterpret(poplar::INT).dimRoll(t.rank() - 1, axis));
        },
};

}  // namespace pando::lower
