#include "lower/parts/op_lowering.h"
#include "lower/terms/element_types.h"
#include "lower/shared/reductions.h"

namespace pando::lower {

extern const Row lower_prod;
constexpr Row lower_prod = {
    .name = "prod",
    .makes_tensor = true,
    .lower = [](OpLowering& o) { o.result(0, reduced(o, o.operand(0), popops::Operation::MUL, element_type(o.result_type().dtype))); },
    .finish = [](OpLowering& o, Epilogue& e) { return finish_reduced(o, e, popops::Operation::MUL); },
};

}  // namespace pando::lower
