#include "lower/parts/op_lowering.h"

namespace pando::lower {

extern const Row lower_identity;
constexpr Row lower_identity = {
    .name = "identity",
    .lower = [](OpLowering& o) { o.result_view(0, o.operand(0)); },
    .unview = [](const ir::Module&, ir::OpId, const poplar::Tensor& result) { return result; },
};

}  // namespace pando::lower
