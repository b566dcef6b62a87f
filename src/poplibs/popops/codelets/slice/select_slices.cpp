// out[i] = partials[p][i], p the part of the table that has row rows[i]; zeros for a row that does not exist.
// One list of parts per block of columns: partials[block * parts + p].
#ifdef __POPC__
#include <poplar/Vertex.hpp>

#include "poplibs/popops/codelets/slice/hits.h"

namespace popops {

template <class T>
class SelectSlices : public poplar::Vertex {
 public:
  SelectSlices();
  poplar::Vector<poplar::Input<poplar::Vector<T>>> partials;
  poplar::Input<poplar::Vector<unsigned>> rows;
  poplar::Vector<poplar::Output<poplar::Vector<T>>> out;
  const unsigned numRows;
  const unsigned partRows;

  bool compute() {
    const unsigned n = rows.size(), blocks = out.size(), parts = partials.size() / blocks, first = out[0].size() / n;
    const auto part = [this](unsigned row) { return row < numRows ? row / partRows : 0; };
    for (unsigned i = 0; i < n; ++i) ask_for<false>(&partials[part(rows[i])][i * first], first);
    for (unsigned b = 0; b < blocks; ++b) {
      const unsigned cols = out[b].size() / n;
      for (unsigned i = 0; i < n; ++i) {
        if (rows[i] < numRows)
          copy_row(&out[b][i * cols], &partials[b * parts + part(rows[i])][i * cols], cols);
        else
          std::memset(&out[b][i * cols], 0, cols * sizeof(T));
      }
    }
    return true;
  }
};

template class SelectSlices<unsigned char>;
template class SelectSlices<unsigned short>;
template class SelectSlices<unsigned int>;
template class SelectSlices<unsigned long long>;

}  // namespace popops
#else
#include "poplibs/codelet_file.h"

namespace popops {

using namespace pando::poplibs;

Estimates estimates_select_slices() {
  using namespace poplar;
  return for_types("popops::SelectSlices", {UNSIGNED_CHAR, UNSIGNED_SHORT, UNSIGNED_INT, UNSIGNED_LONGLONG}, [](const Type& type) {
    return [type](const VertexIntrospector& vertex, const Target& target) {
      const auto out = vertex.getFieldInfo("out");
      std::size_t bytes = 0;
      for (std::size_t b = 0; b < out.size(); ++b) bytes += out.getSizeAtIndex(b) * target.getTypeSize(type);
      return VertexPerfEstimate(20 + 10 * out.size() * vertex.getFieldInfo("rows").size() + bytes / 4);
    };
  });
}

}  // namespace popops
#endif
