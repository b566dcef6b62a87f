#include "lower/parts/op_lowering.h"
#include "lower/terms/element_types.h"
#include "lower/shared/expressions.h"
#include "lower/terms/moving.h"
#include "lower/shared/reductions.h"

#include <popops/ElementWise.hpp>
#include <popops/Reduce.hpp>
#include <popops/TopK.hpp>
#include <poputil/TileMapping.hpp>

#include <algorithm>

namespace pando::lower {

using poplar::Tensor;

extern const Row lower_median;
constexpr Row lower_median = {
    .name = "median",
    .lower =
        [](OpLowering& o) {
          o.need(Library::popops);
          const ir::Ints& axes = o.attributes().ints("axis");
          Tensor t = widened(o, o.operand(0));
          // The reduced axes last, in order, as one.
          std::vector<unsigned> order;
          std::size_t n = 1;
          for (unsigned d = 0; d < t.rank(); ++d) {
            if (std::find(axes.begin(), axes.end(), std::int64_t{d}) == axes.end()) order.push_back(d);
          }
          std::vector<std::int64_t> sorted(axes.begin(), axes.end());
          std::sort(sorted.begin(), sorted.end());
          for (std::int64_t d : sorted) {
            order.push_back(static_cast<unsigned>(d));
            n *= t.dim(static_cast<unsigned>(d));
          }
          t = t.dimShuffle(order);
          t = with_whole_rows(o, t.reshape({t.numElements() / n, n}));
          // Of equal ones the first: the least position whose element equals the middle one.
          const popops::TopKParams params(static_cast<unsigned>((n - 1) / 2 + 1), false, popops::SortOrder::ASCENDING);
          const Tensor least = popops::topKWithPermutation(o.graph(), o.program(), t, params, o.name()).first;
          const Tensor middle = least.slice((n - 1) / 2, (n - 1) / 2 + 1, 1);
          ir::HostTensor numbers(ir::DType::int32, {1, static_cast<std::int64_t>(n)});
          for (std::int64_t i = 0; i < numbers.elements(); ++i) numbers.set_integer(i, i);
          const Tensor positions = add_constant(o.graph(), numbers, o.name() + "/positions");
          poputil::mapTensorLinearly(o.graph(), positions);
          Any same = pe::Equal(pe::_1, pe::_2);
          if (ir::is_floating(o.operand_type(0).dtype))
            same = pe::Or(same, pe::And(pe::NotEqual(pe::_1, pe::_1), pe::NotEqual(pe::_2, pe::_2)));
          const Any where = pe::Select(pe::_3, pe::Const(static_cast<int>(n)), same);
          const Tensor candidates = popops::map(o.graph(), where, {t, middle, positions}, o.program(), o.name() + "/candidates");
          o.result(0, as_result(o, middle));
          o.result(1, popops::reduce(o.graph(), candidates, {1}, popops::Operation::MIN, o.program(), o.name() + "/position"));
        },
};

}  // namespace pando::lower
