// What a TensorMetaData holds: operations derive their own.
#pragma once

#include <memory>

namespace poputil {

class TensorMetaDataBase {
 public:
  virtual ~TensorMetaDataBase() = default;
  virtual std::unique_ptr<TensorMetaDataBase> clone() const = 0;
};

}  // namespace poputil
