#include "lower/parts/op_lowering.h"

#include <popops/Reduce.hpp>

namespace pando::lower {

extern const Row lower_lamb_square;
constexpr Row lower_lamb_square = {
    .name = "lamb_square",
    .makes_tensor = true,
    .lower =
        [](OpLowering& o) {
          o.need(Library::popops);
          const popops::ReduceParams params(popops::Operation::SQUARE_ADD);
          o.result(0, popops::reduce(o.graph(), o.operand(0).flatten(), poplar::FLOAT, {0}, params, o.program(), o.name()));
        },
};

}  // namespace pando::lower
