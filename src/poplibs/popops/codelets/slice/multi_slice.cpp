// out[i] = table[rows[i]], for the rows of the table that lie here.
//
// The table's columns are blocks; a block's rows lie in `table.size() / out.size()` chunks of `chunkRows` rows, each contiguous.
// With `whole`, all rows of the table are here, and a row that does not exist reads as zeros. Otherwise elements of `out` that
// belong to rows elsewhere are left as they are, and nobody reads them.
#ifdef __POPC__
#include <poplar/Vertex.hpp>

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

  static void copy(T* to, const T* from, unsigned n) {
    if (n == 1) *to = *from;
    else if (n == 4) std::memcpy(to, from, 4 * sizeof(T));
    else std::memcpy(to, from, n * sizeof(T));
  }

  void one(unsigned i, unsigned local) {
    const unsigned blocks = out.size(), chunks = table.size() / blocks;
    const unsigned chunk = chunks == 1 ? 0 : local / chunkRows, row = local - chunk * chunkRows;
    for (unsigned b = 0; b < blocks; ++b) {
      const unsigned cols = out[b].size() / rows.size();
      copy(&out[b][i * cols], &table[b * chunks + chunk][row * cols], cols);
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
    // Few rows are here: look for them in groups.
    constexpr unsigned kGroup = 16;
    for (unsigned i = 0; i < n; i += kGroup) {
      const unsigned end = i + kGroup < n ? i + kGroup : n;
      unsigned hits = 0;
      if (end - i == kGroup)
        for (unsigned k = 0; k < kGroup; ++k) hits |= index[i + k] - firstRow < numRows;
      else hits = 1;
      if (hits == 0) continue;
      for (unsigned k = i; k < end; ++k)
        if (index[k] - firstRow < numRows) one(k, index[k] - firstRow);
    }
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
