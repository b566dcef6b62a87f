#include "lower/element_types.h"
#include "lower/lowering.h"
#include "lower/roi_align.h"

#include <poplin/MatMul.hpp>

namespace pando::lower {

using poplar::Tensor;

extern const Row lower_roi_align;
constexpr Row lower_roi_align = {
    .name = "roi_align",
    .lower =
        [](OpLowering& o) {
          o.lowering().need(Library::poplin);
          const ir::Shape& images = o.operand_type(0).shape;
          const Tensor t = o.operand(0).dimShuffle({0, 2, 3, 1}), w = roi_weights(o, images, 1, t.elementType());
          const std::size_t bins = w.dim(0) * w.dim(1) * w.dim(2), elements = w.numElements() / bins;
          const Tensor y = poplin::matMul(o.graph(), w.reshape({bins, elements}), t.reshape({elements, t.dim(3)}), o.program(), t.elementType(), o.name(), {},
                                          &o.lowering().planning());
          o.result(0, y.reshape({w.dim(0), w.dim(1), w.dim(2), t.dim(3)}).dimShuffle({0, 3, 1, 2}));
        },
};

}  // namespace pando::lower
