#include "lower/parts/op_lowering.h"
#include "lower/terms/element_types.h"

namespace pando::lower {

extern const Row lower_flatten;
constexpr Row lower_flatten = {
    .name = "flatten",
    .lower = [](OpLowering& o) { o.result_view(0, o.operand(0).reshape(extents(o.result_type().shape))); },
    .unview = [](const ir::Module& m, ir::OpId op,
                 const poplar::Tensor& t) { return t.reshape(extents(m.type_of(m.operand(op, 0)).shape)); },
};

}  // namespace pando::lower
