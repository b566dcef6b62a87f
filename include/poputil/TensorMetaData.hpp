#ifndef poputil_TensorMetaData_hpp
#define poputil_TensorMetaData_hpp

#include <poplar/Export.hpp>

#include <memory>

namespace poputil {

class TensorMetaDataBase;

/// What an operation wants to remember about a tensor that it returns: a copyable box for data that only that operation knows.
class POPLAR_EXPORT TensorMetaData {
  std::unique_ptr<TensorMetaDataBase> data;

 public:
  /// Empty.
  TensorMetaData();
  TensorMetaData(const TensorMetaData& other);
  TensorMetaData(TensorMetaData&& other);
  TensorMetaData& operator=(const TensorMetaData& other);
  TensorMetaData& operator=(TensorMetaData&& other);
  TensorMetaData(std::unique_ptr<TensorMetaDataBase> data);
  ~TensorMetaData();
  /// What is in it; null if it is empty.
  const TensorMetaDataBase* getData() const { return data.get(); }
};

}  // namespace poputil

#endif
