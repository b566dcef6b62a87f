// Programs without pmap.
//
//     ys: Tuple[...] = pmap(xs, ws, device_var=0) @body     becomes     x0 = get_element(xs, index=0) ...
//                                                                       y0 = matmul(x0, w0)       on the device of element 0
//                                                                       y1 = matmul(x1, w1)       on that of element 1
//                                                                       ys = make_tuple(y0, y1)
//
// The body's ops are copied once for each element, with the element's device for the device variable; attributes are shared. Graphs that a
// body carries (calls, loops) are copied once for each device. Works in any depth.
#pragma once

#include "ir/module.h"

namespace pando::transform {

// Verifies what comes out. Rejects (popart) a module that is not valid, by ir/checks/verify_distribution.h, too.
ir::Module unroll_pmap(const ir::Module& module);

}  // namespace pando::transform
