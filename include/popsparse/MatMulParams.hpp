#ifndef popsparse_MatMulParams_hpp
#define popsparse_MatMulParams_hpp

#include <poplar/Export.hpp>
#include <popsparse/SparsityParams.hpp>

#include <cstddef>
#include <ostream>

namespace popsparse {
namespace dynamic {

/// The shape of a product [groups][m][k] * [groups][k][n] whose left side is sparse.
class POPLAR_EXPORT MatMulParams {
  SparsityParams sparsityParams;
  double nzRatio;
  std::size_t groups, m, k, n;
  MatMulParams(const SparsityParams& sparsity, double ratio, std::size_t groups, std::size_t m, std::size_t k, std::size_t n);

 public:
  /// \p nzRatio in (0, 1]: the part of the m * k elements that may be stored.
  /// Throws poplibs_error for another ratio, a size of 0, and sizes that blocks do not divide.
  static MatMulParams createWithNzRatio(const SparsityParams& sparsityParams, double nzRatio, std::size_t groups, std::size_t m,
                                        std::size_t k, std::size_t n);
  /// The same by the number of elements, a multiple of a block's.
  static MatMulParams createWithNumNonZeroValues(const SparsityParams& sparsityParams, std::size_t numNonZeroElems, std::size_t groups,
                                                 std::size_t m, std::size_t k, std::size_t n);
  const SparsityParams& getSparsityParams() const { return sparsityParams; }
  std::size_t getNumGroups() const { return groups; }
  std::size_t getM() const { return m; }
  std::size_t getK() const { return k; }
  std::size_t getN() const { return n; }
  double getNzRatio() const;
  /// Elements that may be stored, whole blocks.
  std::size_t getNumNonZeroValues() const;

  friend POPLAR_EXPORT bool operator<(const MatMulParams& a, const MatMulParams& b);
  friend POPLAR_EXPORT bool operator==(const MatMulParams& a, const MatMulParams& b);
  friend POPLAR_EXPORT bool operator!=(const MatMulParams& a, const MatMulParams& b);
};
POPLAR_EXPORT std::ostream& operator<<(std::ostream& os, const MatMulParams& params);

}  // namespace dynamic

namespace static_ {

/// The shape of a product of a sparse and a dense matrix, or of a dense and a sparse one.
class POPLAR_EXPORT MatMulParams {
  std::size_t groups, m, k, n;
  bool transposed;
  MatMulParams(std::size_t groups, std::size_t m, std::size_t k, std::size_t n, bool transposed);

 public:
  /// sparse [groups][m][k] * dense [groups][k][n]. Throws poplibs_error for a size of 0.
  static MatMulParams createForSparseDense(std::size_t groups, std::size_t m, std::size_t k, std::size_t n);
  /// dense [groups][n][k] * sparse [groups][k][m].
  static MatMulParams createForDenseSparse(std::size_t groups, std::size_t n, std::size_t k, std::size_t m);
  std::size_t getNumGroups() const { return groups; }
  std::size_t getM() const { return m; }
  std::size_t getK() const { return k; }
  std::size_t getN() const { return n; }
  /// The sparse matrix is the right side.
  bool isTransposed() const { return transposed; }

  friend POPLAR_EXPORT bool operator<(const MatMulParams& a, const MatMulParams& b);
  friend POPLAR_EXPORT bool operator==(const MatMulParams& a, const MatMulParams& b);
  friend POPLAR_EXPORT bool operator!=(const MatMulParams& a, const MatMulParams& b);
};
POPLAR_EXPORT std::ostream& operator<<(std::ostream& os, const MatMulParams& params);

}  // namespace static_
}  // namespace popsparse

#endif
