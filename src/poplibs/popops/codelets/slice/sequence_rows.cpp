// For rows [first, first + rows.size()) of an output, the row to read: of the last sequence that writes it, inRow + (row - outRow), if
// that is a row of the input (inRows); otherwise none. A row that no sequence writes reads from row inRows + row, or from none if unused
// rows are zero.
#ifdef __POPC__
#include <poplar/Vertex.hpp>

namespace popops {

class SequenceRows : public poplar::Vertex {
 public:
  SequenceRows();
  poplar::Input<poplar::Vector<unsigned>> lengths;
  poplar::Input<poplar::Vector<unsigned>> inRow;
  poplar::Input<poplar::Vector<unsigned>> outRow;
  poplar::Output<poplar::Vector<unsigned>> rows;
  const unsigned first;
  const unsigned inRows;
  const bool zeroUnused;

  bool compute() {
    const unsigned n = rows.size();
    for (unsigned i = 0; i < n; ++i) rows[i] = zeroUnused ? 0xffffffffu : inRows + first + i;
    for (unsigned s = 0; s < lengths.size(); ++s) {
      // 64 bits: the end of a sequence may be beyond 2^32.
      const unsigned long long begin = outRow[s], end = begin + lengths[s], last = static_cast<unsigned long long>(first) + n;
      for (unsigned long long r = begin < first ? first : begin; r < end && r < last; ++r) {
        const unsigned long long from = inRow[s] + (r - begin);
        rows[r - first] = from < inRows ? static_cast<unsigned>(from) : 0xffffffffu;
      }
    }
    return true;
  }
};

}  // namespace popops
#else
#include "poplibs/codelet_file.h"

namespace popops {

using namespace pando::poplibs;

Estimates estimates_sequence_rows() {
  return {{"popops::SequenceRows", [](const VertexIntrospector& vertex, const Target&) {
             return VertexPerfEstimate(20 + 8 * vertex.getFieldInfo("lengths").size() + 6 * vertex.getFieldInfo("rows").size());
           }}};
}

}  // namespace popops
#endif
