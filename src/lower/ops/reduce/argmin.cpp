#include "lower/lowering.h"
#include "lower/shared/moving.h"
#include "lower/shared/reductions.h"

#include <popnn/Loss.hpp>

namespace pando::lower {

using poplar::Tensor;

extern const Row lower_argmin;
constexpr Row lower_argmin = {
    .name = "argmin",
    .makes_tensor = true,
    .lower =
        [](OpLowering& o) {
          o.lowering().need(Library::popnn);
          const auto dim = static_cast<unsigned>(o.attributes().integer("dim"));
          Tensor t = widened(o, o.operand(0));
          t = with_whole_rows(o, t.dimRoll(dim, t.rank() - 1));
          const std::size_t n = t.dim(t.rank() - 1);
          const Tensor positions = popnn::argMin(o.graph(), t.reshape({t.numElements() / n, n}), o.program(), o.name());
          o.result(0, positions.reinterpret(poplar::INT));
        },
};

}  // namespace pando::lower
