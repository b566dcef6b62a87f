#include "lower/element_types.h"
#include "lower/lowering.h"
#include "lower/roi_align.h"

#include <poplin/MatMul.hpp>

namespace pando::lower {

using poplar::Tensor;

extern const Row lower_roi_align_grad;
constexpr Row lower_roi_align_grad = {
    .name = "roi_align_grad",
    .lower =
        [](OpLowering& o) {
          o.lowering().need(Library::poplin);
          const ir::Shape& images = o.attributes().ints("shape");
          const Tensor dy = o.operand(0).dimShuffle({0, 2, 3, 1}), w = roi_weights(o, images, 1, dy.elementType());
          const std::size_t bins = w.dim(0) * w.dim(1) * w.dim(2), elements = w.numElements() / bins;
          const Tensor dx = poplin::matMul(o.graph(), w.reshape({bins, elements}).transpose(), dy.reshape({bins, dy.dim(3)}), o.program(), dy.elementType(), o.name(),
                                           {}, &o.lowering().planning());
          o.result(0, dx.reshape({w.dim(3), w.dim(4), w.dim(5), dy.dim(3)}).dimShuffle({0, 3, 1, 2}));
        },
};

}  // namespace pando::lower
