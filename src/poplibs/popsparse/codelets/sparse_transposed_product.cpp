// Some rows of the transpose of a part of a sparse matrix times a dense matrix: sums over the part's blocks in one bucket. kAdds: to what
// is there.
//
// x: a row of `width` elements for each row of the part; sums: one for each of its columns [first_column, first_column + columns), in
// elements.
#ifdef __POPC__
#include <poplar/HalfFloat.hpp>
#include <poplar/Vertex.hpp>

#include "poplibs/popsparse/bucket.h"

namespace popsparse {

template <class T, class S, bool kAdds>
class SparseTransposedProduct : public poplar::Vertex {
 public:
  SparseTransposedProduct();
  poplar::Input<poplar::Vector<unsigned short>> meta;
  poplar::Input<poplar::Vector<T>> values;
  poplar::Input<poplar::Vector<T>> x;
  std::conditional_t<kAdds, poplar::InOut<poplar::Vector<S>>, poplar::Output<poplar::Vector<S>>> sums;
  const unsigned home;
  const unsigned first_column;
  const unsigned columns;
  const unsigned width;
  const unsigned short block_rows;
  const unsigned short block_columns;

  bool compute() {
    if constexpr (!kAdds)
      for (unsigned long long i = 0; i < sums.size(); ++i) sums[i] = S(0);
    const Group group = group_of(&meta[0], home);
    for (unsigned i = 0; i < group.count; ++i) {
      const unsigned column = group.column(i) * block_columns;
      if (column + block_columns > first_column && column < first_column + columns) add_block(group.first + i, group.row(i), column);
    }
    return true;
  }

 private:
  void add_block(unsigned place, unsigned row, unsigned column) {
    const T* value = &values[static_cast<unsigned long long>(place) * block_rows * block_columns];
    for (unsigned a = 0; a < block_rows; ++a) {
      const T* __restrict from = &x[(static_cast<unsigned long long>(row) * block_rows + a) * width];
      for (unsigned b = 0; b < block_columns; ++b, ++value) {
        const unsigned line = column + b - first_column;  // wraps around for what lies before
        if (line >= columns) continue;
        S* __restrict to = &sums[static_cast<unsigned long long>(line) * width];
        const float factor = static_cast<float>(*value);
        for (unsigned c = 0; c < width; ++c) to[c] = static_cast<S>(static_cast<float>(to[c]) + factor * static_cast<float>(from[c]));
      }
    }
  }
};

template class SparseTransposedProduct<float, float, false>;
template class SparseTransposedProduct<float, float, true>;
template class SparseTransposedProduct<half, float, false>;
template class SparseTransposedProduct<half, float, true>;
template class SparseTransposedProduct<half, half, false>;
template class SparseTransposedProduct<half, half, true>;

}  // namespace popsparse
#else
#include "poplibs/popsparse/estimates.h"

namespace popsparse {

// Each vertex looks at all blocks.
Estimates estimates_sparse_transposed_product() {
  return for_pairs("popsparse::SparseTransposedProduct", {.per_block_seen = 6, .result = "sums", .values = "values"});
}

}  // namespace popsparse
#endif
