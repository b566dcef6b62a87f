// Pooling whose windows or data have gaps: the libraries pool neighbours only. For each element of the kernel there is a view of the data,
// of the elements that it lies on in all windows; these views are reduced.
#pragma once

#include "lower/parts/op_lowering.h"

#include "ir/shared/windows/pooling.h"

namespace pando::lower {

bool has_gaps(const ir::Pooling& pooling);
// `data`: (batch, channels, spatial ...).
poplar::Tensor max_pool_by_views(OpLowering& o, const poplar::Tensor& data, const ir::Pooling& pooling);
poplar::Tensor average_pool_by_views(OpLowering& o, const poplar::Tensor& data, const ir::Pooling& pooling);
// The gradients for the data. All largest elements of a window share its gradient.
poplar::Tensor max_pool_gradient_by_views(OpLowering& o, const poplar::Tensor& x, const poplar::Tensor& y, const poplar::Tensor& dy,
                                          const ir::Pooling& pooling);
poplar::Tensor average_pool_gradient_by_views(OpLowering& o, const poplar::Tensor& dy, const ir::Pooling& pooling);

}  // namespace pando::lower
