#ifndef popsparse_SparseTensor_hpp
#define popsparse_SparseTensor_hpp

#include <poplar/Tensor.hpp>
#include <poputil/TensorMetaData.hpp>

namespace popsparse {
namespace dynamic {

/// A sparse matrix on the device, whose sparsity the host may change between runs: what Partitioner::createSparsityDataImpl makes of a
/// matrix is written to its two tensors.
class SparseTensor {
  poplar::Tensor metaInfo;
  poplar::Tensor nzValues;
  poputil::TensorMetaData opMetaData;

 public:
  SparseTensor() = default;
  SparseTensor(const SparseTensor& t) = default;
  SparseTensor& operator=(const SparseTensor& t) = default;
  SparseTensor(const poplar::Tensor& metaInfo_, const poplar::Tensor& nzValues_, const poputil::TensorMetaData& opMetaData_ = {})
      : metaInfo(metaInfo_), nzValues(nzValues_), opMetaData(opMetaData_) {}
  /// Where the values belong: UNSIGNED_SHORT, one dimension.
  const poplar::Tensor& getMetaInfoTensor() const { return metaInfo; }
  /// The values, one dimension.
  const poplar::Tensor& getNzValuesTensor() const { return nzValues; }
  const poputil::TensorMetaData& getOpMetaData() const { return opMetaData; }
};

}  // namespace dynamic

namespace static_ {

/// A sparse matrix on the device, whose sparsity is known when the graph is built.
class SparseTensor {
  poplar::Tensor nzValues;
  poputil::TensorMetaData opMetaData;

 public:
  SparseTensor() = default;
  SparseTensor(const SparseTensor& t) = default;
  SparseTensor& operator=(const SparseTensor& t) = default;
  SparseTensor(const poplar::Tensor& nzValues_, const poputil::TensorMetaData& opMetaData_ = {})
      : nzValues(nzValues_), opMetaData(opMetaData_) {}
  /// The values in the order of Partitioner::createSparsityDataImpl, one dimension.
  const poplar::Tensor& getNzValuesTensor() const { return nzValues; }
  const poputil::TensorMetaData& getOpMetaData() const { return opMetaData; }
};

}  // namespace static_
}  // namespace popsparse

#endif
