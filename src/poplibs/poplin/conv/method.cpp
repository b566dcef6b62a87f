#include "poplibs/poplin/conv/method.h"

#include "poplibs/poputil/reject.h"

#include <algorithm>

namespace poplin::conv {

#define X(name) Method method_##name();
#include "conv_method_manifest.inc"
#undef X

const std::vector<Method>& methods() {
  static const std::vector<Method> rows = [] {
    std::vector<Method> all = {
#define X(name) method_##name(),
#include "conv_method_manifest.inc"
#undef X
    };
    std::ranges::sort(all, {}, &Method::order);
    return all;
  }();
  return rows;
}

const Method& method_for(const Call& call) {
  for (const Method& m : methods())
    if (m.applies(call)) return m;
  poputil::reject("no-method", "no way to convolve applies to a convolution");
}

}  // namespace poplin::conv
