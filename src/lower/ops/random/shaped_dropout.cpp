#include "ir/random.h"
#include "lower/parts/op_lowering.h"
#include "lower/terms/element_types.h"

#include <poprand/RandomGen.hpp>
#include <poputil/TileMapping.hpp>

namespace pando::lower {

extern const Row lower_shaped_dropout;
constexpr Row lower_shaped_dropout = {
    .name = "shaped_dropout",
    .makes_tensor = true,
    .lower =
        [](OpLowering& o) {
          o.need(Library::poprand);
          // Its dropout computes with maps.
          o.need(Library::popops);
          const poplar::Tensor t = o.operand(0), seed = o.operand(1);
          const double keep = 1 - o.attributes().number("ratio");
          // The mask has the operand's rank at the library.
          auto shape = extents(o.attributes().ints("shape"));
          shape.insert(shape.begin(), t.rank() - shape.size(), 1);
          const poplar::Tensor mask = o.graph().addVariable(t.elementType(), shape, o.name() + "/mask");
          poputil::mapTensorLinearly(o.graph(), mask);
          o.result(0, poprand::shapedDropout(o.graph(), &seed, ir::kDropoutStream, t, mask, keep, 1 / keep, o.program(), o.name()));
        },
};

}  // namespace pando::lower
