#include "lower/parts/op_lowering.h"
#include "lower/terms/element_types.h"
#include "lower/shared/reductions.h"

namespace pando::lower {

extern const Row lower_sum;
constexpr Row lower_sum = {
    .name = "sum",
    .makes_tensor = true,
    .lower = [](OpLowering& o) { o.result(0, reduced(o, o.operand(0), popops::Operation::ADD, element_type(o.result_type().dtype))); },
    .finish = [](OpLowering& o, Epilogue& e) { return finish_reduced(o, e, popops::Operation::ADD); },
};

}  // namespace pando::lower
