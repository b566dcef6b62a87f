// The gradients of some blocks of a part of a sparse matrix, from those of its product: y * x^T where the matrix has blocks. kAdds: to what
// is there.
//
// gradients: blocks [first_block, first_block + gradients / block) of the bucket; y, x: a row of `width` elements for each row and column
// of the part.
#ifdef __POPC__
#include <poplar/HalfFloat.hpp>
#include <poplar/Vertex.hpp>

#include "poplibs/popsparse/bucket.h"

namespace popsparse {

template <class T, class S, bool kAdds>
class SparseGradient : public poplar::Vertex {
 public:
  SparseGradient();
  poplar::Input<poplar::Vector<unsigned short>> meta;
  poplar::Input<poplar::Vector<T>> y;
  poplar::Input<poplar::Vector<T>> x;
  std::conditional_t<kAdds, poplar::InOut<poplar::Vector<S>>, poplar::Output<poplar::Vector<S>>> gradients;
  const unsigned home;
  const unsigned first_block;
  const unsigned width;
  const unsigned short block_rows;
  const unsigned short block_columns;

  bool compute() {
    const unsigned long long area = static_cast<unsigned long long>(block_rows) * block_columns, blocks = gradients.size() / area;
    if constexpr (!kAdds)
      for (unsigned long long i = 0; i < gradients.size(); ++i) gradients[i] = S(0);
    const Group group = group_of(&meta[0], home);
    for (unsigned i = first_block > group.first ? first_block - group.first : 0; i < group.count; ++i) {
      const unsigned long long place = group.first + i - first_block;
      if (place >= blocks) break;
      S* to = &gradients[place * area];
      for (unsigned a = 0; a < block_rows; ++a)
        for (unsigned b = 0; b < block_columns; ++b, ++to)
          *to = static_cast<S>(static_cast<float>(*to) + product(static_cast<unsigned long long>(group.row(i)) * block_rows + a,
                                                                 static_cast<unsigned long long>(group.column(i)) * block_columns + b));
    }
    return true;
  }

 private:
  // Sixteen sums side by side, so that they are vectors.
  float product(unsigned long long row, unsigned long long column) const {
    constexpr unsigned kSums = 16;
    const T *from = &y[row * width], *with = &x[column * width];
    float sums[kSums] = {};
    unsigned c = 0;
    for (; c + kSums <= width; c += kSums)
      for (unsigned k = 0; k < kSums; ++k) sums[k] += static_cast<float>(from[c + k]) * static_cast<float>(with[c + k]);
    for (unsigned half = kSums / 2; half > 0; half /= 2)
      for (unsigned k = 0; k < half; ++k) sums[k] += sums[k + half];
    for (; c < width; ++c) sums[0] += static_cast<float>(from[c]) * static_cast<float>(with[c]);
    return sums[0];
  }
};

template class SparseGradient<float, float, false>;
template class SparseGradient<float, float, true>;
template class SparseGradient<half, float, false>;
template class SparseGradient<half, float, true>;
template class SparseGradient<half, half, false>;
template class SparseGradient<half, half, true>;

}  // namespace popsparse
#else
#include "poplibs/popsparse/estimates.h"

namespace popsparse {

// The blocks of a vertex are those of its gradients.
Estimates estimates_sparse_gradient() {
  return for_pairs("popsparse::SparseGradient", {.result = "gradients", .values = "gradients", .shared = false});
}

}  // namespace popsparse
#endif
