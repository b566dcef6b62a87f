#ifndef popsparse_SparsePartitioner_hpp
#define popsparse_SparsePartitioner_hpp

#include <poplar/Export.hpp>
#include <poplar/Interval.hpp>
#include <poplar/OptionFlags.hpp>
#include <poplar/Target.hpp>
#include <poplar/Type.hpp>
#include <popsparse/FullyConnected.hpp>
#include <popsparse/FullyConnectedParams.hpp>
#include <popsparse/MatMulParams.hpp>
#include <popsparse/SparseStorageFormats.hpp>

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace popsparse {
namespace dynamic {

class PartitionerImpl;

/// A sparse matrix as the host writes it to the tensors of a SparseTensor. Each element of metaInfo fits an UNSIGNED_SHORT.
template <typename T> struct SparsityDataImpl {
  std::vector<std::size_t> metaInfo;
  std::vector<T> nzValues;
};

/// Makes device data of sparse matrices, and matrices of device data, for a product or layer with the same parameters, type, target and
/// options. \p T is float or double.
template <typename T> class Partitioner {
  std::string name;

 public:
  const PartitionerImpl& getImpl() const { return *impl; }

  /// Throws poplibs_error for parameters that createFullyConnectedWeights does not take, invalid_option for such options.
  POPLAR_EXPORT Partitioner(const FullyConnectedParams& params, const poplar::Type& dataType, const poplar::Target& target,
                            const poplar::OptionFlags& options, PlanningCache* cache = {}, std::string name = "");
  POPLAR_EXPORT Partitioner(const MatMulParams& params, const poplar::Type& dataType, const poplar::Target& target,
                            const poplar::OptionFlags& options, PlanningCache* cache = {}, std::string name = "");
  POPLAR_EXPORT ~Partitioner();

  /// The matrix [m][k] as device data. Throws poplibs_error for a matrix that is not well formed, has other dimensions or blocks, or has
  /// more blocks than buckets hold (option metaInfoBucketOversizeProportion).
  POPLAR_EXPORT SparsityDataImpl<T> createSparsityDataImpl(const CSCMatrix<T>& matrix) const;
  POPLAR_EXPORT SparsityDataImpl<T> createSparsityDataImpl(const CSRMatrix<T>& matrix) const;
  POPLAR_EXPORT SparsityDataImpl<T> createSparsityDataImpl(const COOMatrix<T>& matrix) const;

  /// The matrix that device data stand for, blocks in the order of rows (CSC: of columns). Throws poplibs_error for data of other sizes or
  /// with places outside of the matrix.
  POPLAR_EXPORT COOMatrix<T> sparsityDataImplToCOOMatrix(const SparsityDataImpl<T>& sparsityDataImpl) const;
  POPLAR_EXPORT CSRMatrix<T> sparsityDataImplToCSRMatrix(const SparsityDataImpl<T>& sparsityDataImpl) const;
  POPLAR_EXPORT CSCMatrix<T> sparsityDataImplToCSCMatrix(const SparsityDataImpl<T>& sparsityDataImpl) const;

  /// The rows, the columns, and the columns of the dense side at which parts of the plan begin.
  POPLAR_EXPORT std::array<std::vector<std::size_t>, 3> getPlanPartitions(void) const;
  /// Elements of metaInfo for each bucket.
  POPLAR_EXPORT std::size_t getmetaInfoBucketElements(void) const;

 private:
  std::unique_ptr<PartitionerImpl> impl;
};

}  // namespace dynamic

namespace static_ {

/// The values of a sparse matrix as the host writes them to a SparseTensor's: block after block in the order of rows, then columns.
template <typename T> struct SparsityDataImpl {
  std::vector<T> nzValues;
  SparsityDataImpl(std::vector<T> nzValues_) : nzValues(std::move(nzValues_)) {}
};

class PartitionerImpl;

/// Puts values into the order of the device, and back. The matrix's sparsity is that of the last createSparsityDataImpl.
/// \p T is float or double.
template <typename T> class Partitioner {
  std::string name;

 public:
  const PartitionerImpl& getImpl() const { return *impl; }

  POPLAR_EXPORT Partitioner(const MatMulParams& params, const poplar::Type& dataType, const poplar::Target& target,
                            const poplar::OptionFlags& options, PlanningCache* cache = {}, std::string name = "");
  POPLAR_EXPORT ~Partitioner();

  /// Throws poplibs_error for a matrix that is not well formed or has other dimensions.
  POPLAR_EXPORT SparsityDataImpl<T> createSparsityDataImpl(const CSCMatrix<T>& matrix) const;
  POPLAR_EXPORT SparsityDataImpl<T> createSparsityDataImpl(const CSRMatrix<T>& matrix) const;
  POPLAR_EXPORT SparsityDataImpl<T> createSparsityDataImpl(const COOMatrix<T>& matrix) const;

  /// Throws poplibs_error before the first createSparsityDataImpl, and for another number of values.
  POPLAR_EXPORT COOMatrix<T> sparsityDataImplToCOOMatrix(const SparsityDataImpl<T>& sparsityDataImpl) const;
  POPLAR_EXPORT CSRMatrix<T> sparsityDataImplToCSRMatrix(const SparsityDataImpl<T>& sparsityDataImpl) const;
  POPLAR_EXPORT CSCMatrix<T> sparsityDataImplToCSCMatrix(const SparsityDataImpl<T>& sparsityDataImpl) const;

 private:
  std::unique_ptr<PartitionerImpl> impl;
};

}  // namespace static_
}  // namespace popsparse

#endif
