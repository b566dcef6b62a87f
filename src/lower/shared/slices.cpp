#include "lower/shared/slices.h"

#include "ir/meaning/slices.h"

namespace pando::lower {

poplar::Tensor sliced(poplar::Tensor t, const ir::Shape& shape, const ir::Attributes& attributes) {
  const std::vector<ir::SliceRange> ranges = ir::slice_ranges(shape, attributes);
  for (unsigned d = 0; d < ranges.size(); ++d) {
    const ir::SliceRange& r = ranges[d];
    if (r.count == shape[d] && r.step == 1) continue;
    const std::int64_t first = r.step > 0 ? r.start : r.start - r.count + 1;
    if (r.count == 0) {
      t = t.slice(0, 0, d);
      continue;
    }
    t = t.slice(static_cast<std::size_t>(first), static_cast<std::size_t>(first + r.count), d);
    if (r.step < 0) t = t.reverse(d);
  }
  return t;
}

}  // namespace pando::lower
