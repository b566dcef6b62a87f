#ifndef poplar_TensorCloneMethod_hpp
#define poplar_TensorCloneMethod_hpp

#include <poplar/Export.hpp>

#include <ostream>
#include <string>

namespace poplar {

/// Which order in memory, and which aliases, a clone has.
enum class TensorCloneMethod {
  PRESERVE_ORDER_AND_ALIASES,
  CREATE_NEW_ORDER,
  PRESERVE_ORDER_UNLESS_ALIASES,
  GATHER_AND_PRESERVE_TILE_ORDER_AND_ALIASES
};
POPLAR_EXPORT std::string toString(TensorCloneMethod method);
POPLAR_EXPORT std::ostream& operator<<(std::ostream& out, TensorCloneMethod method);

/// How cloneN lays out its copies.
enum class TensorCloneDuplicationMethod { DUPLICATE_BY_OUTER_DIMENSION, DUPLICATE_BY_TILE_CONTIGUOUS_REGION };
POPLAR_EXPORT std::string toString(TensorCloneDuplicationMethod method);
POPLAR_EXPORT std::ostream& operator<<(std::ostream& out, TensorCloneDuplicationMethod method);

}  // namespace poplar

#endif
