#include "lower/lowering.h"
#include "lower/shared/element_types.h"
#include "lower/shared/reductions.h"

#include <popops/Cast.hpp>

#include <algorithm>

namespace pando::lower {

extern const Row lower_mean;
constexpr Row lower_mean = {
    .name = "mean",
    .makes_tensor = true,
    .lower =
        [](OpLowering& o) {
          const double n = static_cast<double>(ir::elements_of(o.operand_type(0).shape)) /
                           static_cast<double>(std::max<std::int64_t>(1, ir::elements_of(o.result_type().shape)));
          const ir::DType type = o.result_type().dtype;
          if (ir::is_floating(type)) return o.result(0, reduced(o, o.operand(0), popops::Operation::ADD, element_type(type), 1 / n));
          o.lowering().need(Library::popops);
          const poplar::Tensor numbers = popops::cast(o.graph(), o.operand(0), poplar::FLOAT, o.program(), o.name());
          o.result(0, as_result(o, reduced(o, numbers, popops::Operation::ADD, poplar::FLOAT, 1 / n)));
        },
};

}  // namespace pando::lower
