#include "lower/parts/op_lowering.h"
#include "lower/shared/windows/convolutions.h"
#include "lower/shared/windows/pooling_by_views.h"

#include <popops/Cast.hpp>

namespace pando::lower {

extern const Row lower_max_pool_grad;
constexpr Row lower_max_pool_grad = {
    .name = "max_pool_grad",
    .makes_tensor = true,
    // Where several elements of a window are its largest, each gets its part of the gradient.
    .lower =
        [](OpLowering& o) {
          const ir::Pooling pooling = ir::pooling_of(o.attributes(), o.operand_type(0).shape);
          o.need(Library::popops);
          const poplar::Type type = o.operand(0).elementType();
          poplar::Tensor gradient = o.operand(2);
          if (gradient.elementType() != type) gradient = popops::cast(o.graph(), gradient, type, o.program(), o.name() + "/gradient");
          if (has_gaps(pooling)) return o.result(0, max_pool_gradient_by_views(o, o.operand(0), o.operand(1), gradient, pooling));
          o.need(Library::popnn);
          const auto p = pooling_params(o.attributes(), o.operand_type(0).shape, o.operand_type(0).dtype, popnn::PoolingType::MAX);
          o.result(0,
                   popnn::pooling::poolInputGradient(o.graph(), p, o.operand(0), o.operand(1), gradient, true, o.program(), o.name()));
        },
};

}  // namespace pando::lower
