// table[(offset + i) mod dim] = slices[i] for the rows [firstRow, firstRow + numRows) of the table, block by block of columns.
#ifdef __POPC__
#include <poplar/Vertex.hpp>

namespace popops {

template <class T>
class DynamicUpdate : public poplar::Vertex {
 public:
  DynamicUpdate();
  poplar::Vector<poplar::InOut<poplar::Vector<T>>> table;
  poplar::Vector<poplar::Input<poplar::Vector<T>>> slices;
  poplar::Input<unsigned> offset;
  const unsigned dim;
  const unsigned firstRow;
  const unsigned numRows;

  bool compute() {
    const unsigned first = *offset % dim;
    for (unsigned b = 0; b < table.size(); ++b) {
      const unsigned cols = table[b].size() / numRows, rows = slices[b].size() / cols;
      for (unsigned r = 0; r < numRows; ++r) {
        const unsigned row = firstRow + r, i = row >= first ? row - first : row + dim - first;
        if (i < rows) std::memcpy(&table[b][r * cols], &slices[b][i * cols], cols * sizeof(T));
      }
    }
    return true;
  }
};

template class DynamicUpdate<unsigned char>;
template class DynamicUpdate<unsigned short>;
template class DynamicUpdate<unsigned int>;
template class DynamicUpdate<unsigned long long>;

}  // namespace popops
#else
#include "poplibs/codelet_file.h"

namespace popops {

using namespace pando::poplibs;

Estimates estimates_dynamic_update() {
  using namespace poplar;
  return for_types("popops::DynamicUpdate", {UNSIGNED_CHAR, UNSIGNED_SHORT, UNSIGNED_INT, UNSIGNED_LONGLONG}, [](const Type& type) {
    return [type](const VertexIntrospector& vertex, const Target& target) {
      const auto slices = vertex.getFieldInfo("slices");
      std::size_t bytes = 0;
      for (std::size_t b = 0; b < slices.size(); ++b) bytes += slices.getSizeAtIndex(b) * target.getTypeSize(type);
      return VertexPerfEstimate(25 + 15 * slices.size() + bytes / 4);
    };
  });
}

}  // namespace popops
#endif
