// The rows that offsets mean. Offsets are tuples, one number per sliced dimension; the row of a coordinate is its position in
// row-major order. Each tuple gives the `window` rows of a box of `sizes`, in row-major order.
#ifdef __POPC__
#include <poplar/Vertex.hpp>

namespace popops {

class SliceRows : public poplar::Vertex {
 public:
  SliceRows();
  poplar::Input<poplar::Vector<unsigned>> offsets;  // [tuples][dims]
  poplar::Output<poplar::Vector<unsigned>> rows;    // [tuples][window]
  poplar::Vector<unsigned> dims;
  poplar::Vector<unsigned> sizes;
  const unsigned rule;   // internal::Outside
  const bool negatives;  // offsets are signed

  static constexpr unsigned kNone = 0xffffffffu;

  // The offset to use in dimension d; kNone if there is none.
  unsigned start(unsigned offset, unsigned d) const {
    const unsigned dim = dims[d], last = dim - sizes[d];
    if (rule == 1) return offset % dim;
    if (rule == 2) return negatives && static_cast<int>(offset) < 0 ? 0 : offset < last ? offset : last;
    if (rule == 3) return offset <= last ? offset : kNone;
    if (rule == 4) return offset < dim ? offset : 0;
    if (rule == 5) return offset >= dim ? 0 : offset < last ? offset : last;
    return offset;
  }

  bool compute() {
    const unsigned n = dims.size();
    unsigned window = 1;
    for (unsigned d = 0; d < n; ++d) window *= sizes[d];
    for (unsigned i = 0; i * n < offsets.size(); ++i)
      for (unsigned w = 0; w < window; ++w) {
        unsigned row = 0, stride = 1, rest = w;
        for (unsigned d = n; d-- > 0;) {
          const unsigned from = start(offsets[i * n + d], d), step = rest % sizes[d];
          rest /= sizes[d];
          unsigned at = from + step;
          if (rule == 1 && at >= dims[d]) at -= dims[d];
          if (from == kNone || from >= dims[d] || at >= dims[d]) {
            row = kNone;
            break;
          }
          row += at * stride;
          stride *= dims[d];
        }
        rows[i * window + w] = row;
      }
    return true;
  }
};

}  // namespace popops
#else
#include "poplibs/codelet_file.h"

namespace popops {

using namespace pando::poplibs;

Estimates estimates_slice_rows() {
  return {{"popops::SliceRows", [](const VertexIntrospector& vertex, const Target&) {
             return VertexPerfEstimate(20 + vertex.getFieldInfo("rows").size() * (4 + 12 * vertex.getFieldInfo("dims").size()));
           }}};
}

}  // namespace popops
#endif
