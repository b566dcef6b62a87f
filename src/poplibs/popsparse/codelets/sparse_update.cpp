// Adds dense rows, times a scale, to rows of a part of a sparse matrix, where it has blocks.
//
// values: blocks [first_block, first_block + values / block) of the bucket; slices: a row of the part's `width` columns for each index;
// `first_row`, `rows`: those of the part, in elements.
#ifdef __POPC__
#include <poplar/HalfFloat.hpp>
#include <poplar/Vertex.hpp>

#include "poplibs/popsparse/bucket.h"

namespace popsparse {

template <class T, class Scale>
class SparseUpdate : public poplar::Vertex {
 public:
  SparseUpdate();
  poplar::Input<poplar::Vector<unsigned short>> meta;
  poplar::InOut<poplar::Vector<T>> values;
  poplar::Input<poplar::Vector<unsigned>> indices;
  poplar::Input<poplar::Vector<T>> slices;
  poplar::Input<Scale> scale;
  const unsigned home;
  const unsigned first_block;
  const unsigned first_row;
  const unsigned rows;
  const unsigned width;
  const unsigned short block_rows;
  const unsigned short block_columns;

  bool compute() {
    const Group group = group_of(&meta[0], home);
    const unsigned long long blocks = values.size() / (static_cast<unsigned long long>(block_rows) * block_columns);
    for (unsigned long long n = 0; n < indices.size(); ++n) {
      const unsigned row = indices[n] - first_row;  // wraps around for what lies before
      if (row >= rows) continue;
      for (unsigned i = first_in_row(group, row / block_rows); i < group.count && group.row(i) == row / block_rows; ++i) {
        const unsigned long long place = static_cast<unsigned long long>(group.first) + i - first_block;
        if (place < blocks)
          add(place, row % block_rows, &slices[n * width + static_cast<unsigned long long>(group.column(i)) * block_columns]);
      }
    }
    return true;
  }

 private:
  void add(unsigned long long place, unsigned inner_row, const T* from) {
    T* to = &values[(place * block_rows + inner_row) * block_columns];
    const float factor = static_cast<float>(*scale);
    for (unsigned b = 0; b < block_columns; ++b) to[b] = static_cast<T>(static_cast<float>(to[b]) + factor * static_cast<float>(from[b]));
  }
};

template class SparseUpdate<float, float>;
template class SparseUpdate<half, float>;
template class SparseUpdate<half, half>;

}  // namespace popsparse
#else
#include <fmt/format.h>

#include "poplibs/popsparse/estimates.h"

namespace popsparse {

// Each index is looked for in the bucket; a row's blocks are added to.
Estimates estimates_sparse_update() {
  Estimates out;
  for (const char* types : {"float,float", "half,float", "half,half"})
    out.push_back({fmt::format("popsparse::SparseUpdate<{}>", types), [](const VertexIntrospector& vertex, const Target&) {
                     const std::size_t indices = vertex.getFieldInfo("indices").size(), elements = vertex.getFieldInfo("values").size();
                     return VertexPerfEstimate(30 + indices * 60 + elements * 4, elements * 2);
                   }});
  return out;
}

}  // namespace popsparse
#endif
