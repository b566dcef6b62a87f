// table[rows[i]] = slices[i], in the order of i, for the rows of the table that lie here. One vector of the table per block of
// columns; the slices of a block lie in chunks of `chunkRows`.
#ifdef __POPC__
#include <poplar/Vertex.hpp>

#include "poplibs/popops/codelets/slice/hits.h"

namespace popops {

template <class T>
class MultiUpdate : public poplar::Vertex {
 public:
  MultiUpdate();
  poplar::Vector<poplar::InOut<poplar::Vector<T>>> table;
  poplar::Input<poplar::Vector<unsigned>> rows;
  poplar::Vector<poplar::Input<poplar::Vector<T>>> slices;
  const unsigned firstRow;
  const unsigned numRows;
  const unsigned chunkRows;

  const T* slice(unsigned block, unsigned i, unsigned cols) {
    const unsigned chunks = slices.size() / table.size(), chunk = i / chunkRows;
    return &slices[block * chunks + chunk][(i - chunk * chunkRows) * cols];
  }

  bool compute() {
    const unsigned first = table[0].size() / numRows;
    const auto early = [&](unsigned i, unsigned row) {
      ask_for<true>(&table[0][row * first], first);
      ask_for<false>(slice(0, i, first), first);
    };
    for_each_hit(rows.data(), rows.size(), firstRow, numRows, early, [&](unsigned i, unsigned row) {
      for (unsigned b = 0; b < table.size(); ++b) {
        const unsigned cols = table[b].size() / numRows;
        copy_row(&table[b][row * cols], slice(b, i, cols), cols);
      }
    });
    return true;
  }
};

template class MultiUpdate<unsigned char>;
template class MultiUpdate<unsigned short>;
template class MultiUpdate<unsigned int>;
template class MultiUpdate<unsigned long long>;

}  // namespace popops
#else
#include <algorithm>

#include "poplibs/codelet_file.h"

namespace popops {

using namespace pando::poplibs;

Estimates estimates_multi_update() {
  using namespace poplar;
  return for_types("popops::MultiUpdate", {UNSIGNED_CHAR, UNSIGNED_SHORT, UNSIGNED_INT, UNSIGNED_LONGLONG}, [](const Type& type) {
    return [type](const VertexIntrospector& vertex, const Target& target) {
      const auto table = vertex.getFieldInfo("table");
      const std::size_t n = vertex.getFieldInfo("rows").size();
      const auto rows = vertex.getFieldInfo("numRows").getInitialValue<unsigned>(target);
      std::size_t bytes = 0;
      for (std::size_t b = 0; b < table.size(); ++b) bytes += table.getSizeAtIndex(b) * target.getTypeSize(type);
      // An index in a row of this part is taken to be as likely as any: at most one hit per row.
      const std::size_t hits = std::min<std::size_t>(n, rows);
      return VertexPerfEstimate(20 + 2 * n + hits * (10 * table.size() + bytes / std::max(1u, rows) / 4));
    };
  });
}

}  // namespace popops
#endif
