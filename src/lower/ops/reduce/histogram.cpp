#include "lower/parts/op_lowering.h"

#include <popops/Cast.hpp>
#include <popops/GatherStatistics.hpp>

#include <vector>

namespace pando::lower {

using poplar::Tensor;

extern const Row lower_histogram;
constexpr Row lower_histogram = {
    .name = "histogram",
    .lower =
        [](OpLowering& o) {
          o.need(Library::popops);
          const ir::Floats& levels = o.attributes().floats("levels");
          const Tensor t = o.operand(0).elementType() == poplar::FLOAT
                               ? o.operand(0)
                               : popops::cast(o.graph(), o.operand(0), poplar::FLOAT, o.program(), o.name());
          const std::vector<float> values(levels.begin(), levels.end());
          const Tensor at = o.graph().addConstant(poplar::FLOAT, {values.size()}, values.data(), o.name() + "/levels");
          o.graph().setTileMapping(at, 0);
          o.result(0, popops::histogram(o.graph(), t, at, o.attributes().flag("absolute_of_input"), o.program(), o.name(),
                                        {{"useFloatArithmetic", "false"}}));
        },
};

}  // namespace pando::lower
