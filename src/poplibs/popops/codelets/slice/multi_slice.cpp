// out[i] = table[rows[i]], for the rows of the table that lie here.
//
// The table's columns are blocks; a block's rows lie in `table.size() / out.size()` chunks of `chunkRows` rows, each contiguous.
// With `whole`, all rows of the table are here, and a row that does not exist reads as zeros. Otherwise elements of `out` that
// belong to rows elsewhere are left as they are, and nobody reads them.
#ifdef __POPC__
#include <poplar/Vertex.hpp>

#include "poplibs/popops/codelets/slice/hits.h"

namespace popops {

template <class T>
class MultiSlice : public poplar::Vertex {
 public:
  MultiSlice();
  poplar::Vector<poplar::Input<poplar::Vector<T>>> table;
  poplar::Input<poplar::Vector<unsigned>> rows;
  poplar::Vector<poplar::Output<poplar::Vector<T>>> out;
  const unsigned firstRow;
  const unsigned numRows;
  const unsigned chunkRows;
  const bool whole;

  const T* row(unsigned block, unsigned local, unsigned cols) {
    const unsigned chunks = table.size() / out.size(), chunk = chunks == 1 ? 0 : local / chunkRows;
    return &table[block * chunks + chunk][(local - chunk * chunkRows) * cols];
  }

  void one(unsigned i, unsigned local) {
    for (unsigned b = 0; b < out.size(); ++b) {
      const unsigned cols = out[b].size() / rows.size();
      copy_row(&out[b][i * cols], row(b, local, cols), cols);
    }
  }

  bool compute() {
    const unsigned n = rows.size();
    const unsigned* index = rows.data();
    if (whole) {
      for (unsigned i = 0; i < n; ++i) {
        if (index[i] < numRows) {
          one(i, index[i]);
          continue;
        }
        for (unsigned b = 0; b < out.size(); ++b) {
          const unsigned cols = out[b].size() / n;
          std::memset(&out[b][i * cols], 0, cols * sizeof(T));
        }
      }
      return true;
    }
    const unsigned cols = out[0].size() / n;
    const auto early = [&](unsigned i, unsigned local) {
      ask_for<false>(row(0, local, cols), cols);
      ask_for<true>(&out[0][i * cols], cols);
    };
    for_each_hit(index, n, firstRow, numRows, early, [&](unsigned i, unsigned local) { one(i, local); });
    return true;
  }
};

template class MultiSlice<unsigned char>;
template class MultiSlice<unsigned short>;
template class MultiSlice<unsigned int>;
template class MultiSlice<unsigned long long>;

}  // namespace popops
#else
#include <algorithm>

#include "poplibs/codelet_file.h"

namespace popops {

using namespace pando::poplibs;

// Two cycles to look at an index; a hit costs ten, and a load and a store per 8 bytes.
Estimates estimates_multi_slice() {
  using namespace poplar;
  return for_types("popops::MultiSlice", {UNSIGNED_CHAR, UNSIGNED_SHORT, UNSIGNED_INT, UNSIGNED_LONGLONG}, [](const Type& type) {
    return [type](const VertexIntrospector& vertex, const Target& target) {
      const auto out = vertex.getFieldInfo("out");
      const std::size_t n = vertex.getFieldInfo("rows").size();
      std::size_t bytes = 0;
      for (std::size_t b = 0; b < out.size(); ++b) bytes += out.getSizeAtIndex(b) * target.getTypeSize(type);
      if (vertex.getFieldInfo("whole").getInitialValue<bool>(target)) return VertexPerfEstimate(20 + n * (2 + 10 * out.size()) + bytes / 4);
      // An index in a row of this part is taken to be as likely as any: at most one hit per row.
      const std::size_t hits = std::min<std::size_t>(n, vertex.getFieldInfo("numRows").getInitialValue<unsigned>(target));
      return VertexPerfEstimate(20 + 2 * n + hits * (10 * out.size() + bytes / std::max<std::size_t>(1, n) / 4));
    };
  });
}

}  // namespace popops
#endif
