#include "lower/lowering.h"
#include "lower/shared/element_types.h"
#include "lower/shared/reductions.h"

#include <popops/Cast.hpp>
#include <popops/ElementWise.hpp>

namespace pando::lower {

using poplar::Tensor;

extern const Row lower_cumsum;
constexpr Row lower_cumsum = {
    .name = "cumsum",
    // In doubling steps: each element gets the sum that ends `step` before it.
    .lower =
        [](OpLowering& o) {
          o.lowering().need(Library::popops);
          const auto dim = static_cast<unsigned>(o.attributes().integer("dim"));
          const poplar::Type type = element_type(o.result_type().dtype), wide = wide_type(o.result_type().dtype);
          Tensor sum = type == wide ? o.operand(0) : popops::cast(o.graph(), o.operand(0), wide, o.program(), o.name());
          const std::size_t n = sum.dim(dim);
          for (std::size_t step = 1; step < n; step *= 2) {
            const Tensor later = popops::add(o.graph(), sum.slice(step, n, dim), sum.slice(0, n - step, dim), o.program(), o.name());
            sum = poplar::concat(sum.slice(0, step, dim), later, dim);
          }
          // The first elements are the operand's own.
          if (type == wide) return o.result_view(0, sum);
          o.result(0, as_result(o, sum));
        },
};

}  // namespace pando::lower
