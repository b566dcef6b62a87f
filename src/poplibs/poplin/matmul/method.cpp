#include "poplibs/poplin/matmul/method.h"

#include <algorithm>

#include "poplibs/poputil/reject.h"

namespace poplin::internal::matmul {

#define X(name) Method method_##name();
#include "matmul_method_manifest.inc"
#undef X

const std::vector<Method>& methods() {
  static const std::vector<Method> rows = [] {
    std::vector<Method> all = {
#define X(name) method_##name(),
#include "matmul_method_manifest.inc"
#undef X
    };
    std::ranges::sort(all, {}, &Method::order);
    return all;
  }();
  return rows;
}

const Method& method_for(const Problem& problem, const poplar::Target& target, bool is_given) {
  for (const Method& m : methods())
    if ((m.writes_given || !is_given) && m.applies(problem, target)) return m;
  poputil::reject("no-method", "no way to multiply applies to a product");
}

}  // namespace poplin::internal::matmul
