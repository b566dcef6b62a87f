// Some rows of a part of a sparse matrix times a dense matrix: sums over the part's blocks in one bucket. kAdds: to what is there.
//
// x: a row of `width` elements for each column of the part; sums: one for each of its rows [first_row, first_row + rows), in elements.
#ifdef __POPC__
#include <poplar/HalfFloat.hpp>
#include <poplar/Vertex.hpp>

#include "poplibs/popsparse/bucket.h"

namespace popsparse {

// kColumns columns of kRows rows of elements: sums stay in registers over all blocks of the row.
template <unsigned kRows, unsigned kColumns, class T, class S>
inline void add_columns(const Group& group, unsigned begin, unsigned end, const T* values, unsigned block_rows, unsigned block_columns,
                        unsigned inner_row, const T* x, unsigned width, S* sums) {
  float total[kRows][kColumns];
  for (unsigned r = 0; r < kRows; ++r)
    for (unsigned c = 0; c < kColumns; ++c) total[r][c] = static_cast<float>(sums[r * width + c]);
  for (unsigned i = begin; i < end; ++i) {
    const T* const value = values + (static_cast<unsigned long long>(group.first + i) * block_rows + inner_row) * block_columns;
    const T* from = x + static_cast<unsigned long long>(group.column(i)) * block_columns * width;
    for (unsigned b = 0; b < block_columns; ++b, from += width)
      for (unsigned r = 0; r < kRows; ++r) {
        const float factor = static_cast<float>(value[r * block_columns + b]);
        for (unsigned c = 0; c < kColumns; ++c) total[r][c] += factor * static_cast<float>(from[c]);
      }
  }
  for (unsigned r = 0; r < kRows; ++r)
    for (unsigned c = 0; c < kColumns; ++c) sums[r * width + c] = static_cast<S>(total[r][c]);
}

template <class T, class S, bool kAdds>
class SparseProduct : public poplar::Vertex {
 public:
  SparseProduct();
  poplar::Input<poplar::Vector<unsigned short>> meta;
  poplar::Input<poplar::Vector<T>> values;
  poplar::Input<poplar::Vector<T>> x;
  std::conditional_t<kAdds, poplar::InOut<poplar::Vector<S>>, poplar::Output<poplar::Vector<S>>> sums;
  const unsigned home;
  const unsigned first_row;
  const unsigned rows;
  const unsigned width;
  const unsigned short block_rows;
  const unsigned short block_columns;

  bool compute() {
    if constexpr (!kAdds)
      for (unsigned long long i = 0; i < sums.size(); ++i) sums[i] = S(0);
    const Group group = group_of(&meta[0], home);
    const unsigned end_row = first_row + rows;
    for (unsigned i = first_in_row(group, first_row / block_rows); i < group.count && group.row(i) * block_rows < end_row;) {
      const unsigned begin = i, row = group.row(i);
      while (i < group.count && group.row(i) == row) ++i;
      const unsigned first = row * block_rows < first_row ? first_row - row * block_rows : 0;
      const unsigned last = end_row - row * block_rows < block_rows ? end_row - row * block_rows : block_rows;
      unsigned a = first;
      for (; a + 4 <= last; a += 4) add_rows<4>(group, begin, i, row * block_rows + a - first_row, a);
      for (; a < last; ++a) add_rows<1>(group, begin, i, row * block_rows + a - first_row, a);
    }
    return true;
  }

 private:
  template <unsigned kRows>
  void add_rows(const Group& group, unsigned begin, unsigned end, unsigned row, unsigned a) {
    S* to = &sums[static_cast<unsigned long long>(row) * width];
    const T* from = &x[0];
    const T* value = &values[0];
    unsigned left = width;
    const auto step = [&]<unsigned kColumns>() {
      add_columns<kRows, kColumns>(group, begin, end, value, block_rows, block_columns, a, from, width, to);
      to += kColumns, from += kColumns, left -= kColumns;
    };
    constexpr unsigned kMost = 128 / kRows;
    while (left >= kMost) step.template operator()<kMost>();
    if constexpr (kMost > 64)
      while (left >= 64) step.template operator()<64>();
    while (left >= 16) step.template operator()<16>();
    while (left >= 4) step.template operator()<4>();
    while (left > 0) step.template operator()<1>();
  }
};

template class SparseProduct<float, float, false>;
template class SparseProduct<float, float, true>;
template class SparseProduct<half, float, false>;
template class SparseProduct<half, float, true>;
template class SparseProduct<half, half, false>;
template class SparseProduct<half, half, true>;

}  // namespace popsparse
#else
#include "poplibs/popsparse/estimates.h"

namespace popsparse {

Estimates estimates_sparse_product() { return for_pairs("popsparse::SparseProduct", {.result = "sums", .values = "values"}); }

}  // namespace popsparse
#endif
