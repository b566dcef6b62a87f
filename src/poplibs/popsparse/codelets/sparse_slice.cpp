// Rows of a part of a sparse matrix, as dense rows. kAdds: beside what earlier buckets gave.
//
// out: a row of the part's `width` columns for each of some indices; `first_row`, `rows`: those of the part, in elements.
#ifdef __POPC__
#include <poplar/HalfFloat.hpp>
#include <poplar/Vertex.hpp>

#include "poplibs/popsparse/bucket.h"

namespace popsparse {

template <class T, bool kAdds>
class SparseSlice : public poplar::Vertex {
 public:
  SparseSlice();
  poplar::Input<poplar::Vector<unsigned short>> meta;
  poplar::Input<poplar::Vector<T>> values;
  poplar::Input<poplar::Vector<unsigned>> indices;
  std::conditional_t<kAdds, poplar::InOut<poplar::Vector<T>>, poplar::Output<poplar::Vector<T>>> out;
  const unsigned home;
  const unsigned first_row;
  const unsigned rows;
  const unsigned width;
  const unsigned short block_rows;
  const unsigned short block_columns;

  bool compute() {
    if constexpr (!kAdds)
      for (unsigned long long i = 0; i < out.size(); ++i) out[i] = T(0);
    const Group group = group_of(&meta[0], home);
    for (unsigned long long n = 0; n < indices.size(); ++n) {
      const unsigned row = indices[n] - first_row;  // wraps around for what lies before
      if (row >= rows) continue;
      T* to = &out[n * width];
      for (unsigned i = first_in_row(group, row / block_rows); i < group.count && group.row(i) == row / block_rows; ++i) {
        const T* from = &values[(static_cast<unsigned long long>(group.first + i) * block_rows + row % block_rows) * block_columns];
        for (unsigned b = 0; b < block_columns; ++b) to[group.column(i) * block_columns + b] = from[b];
      }
    }
    return true;
  }
};

template class SparseSlice<float, false>;
template class SparseSlice<float, true>;
template class SparseSlice<half, false>;
template class SparseSlice<half, true>;

}  // namespace popsparse
#else
#include <fmt/format.h>

#include "poplibs/popsparse/estimates.h"

namespace popsparse {

// Each index is looked for in the bucket; zeros are written for all of its row.
Estimates estimates_sparse_slice() {
  Estimates out;
  for (const char* type : {"float", "half"})
    for (const char* adds : {"false", "true"})
      out.push_back({fmt::format("popsparse::SparseSlice<{},{}>", type, adds), [](const VertexIntrospector& vertex, const Target&) {
                       const std::size_t indices = vertex.getFieldInfo("indices").size(), elements = vertex.getFieldInfo("out").size();
                       return VertexPerfEstimate(30 + indices * 60 + elements, 0);
                     }});
  return out;
}

}  // namespace popsparse
#endif
