#include "lower/parts/op_lowering.h"
#include "lower/terms/element_types.h"
#include "lower/shared/reductions.h"

namespace pando::lower {

extern const Row lower_min;
constexpr Row lower_min = {
    .name = "min",
    .makes_tensor = true,
    .lower = [](OpLowering& o) { o.result(0, reduced(o, o.operand(0), popops::Operation::MIN, element_type(o.result_type().dtype))); },
    .finish = [](OpLowering& o, Epilogue& e) { return finish_reduced(o, e, popops::Operation::MIN); },
};

}  // namespace pando::lower
