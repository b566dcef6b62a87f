#ifndef poplar_TargetType_hpp
#define poplar_TargetType_hpp

#include <poplar/Export.hpp>

#include <ostream>
#include <string>

namespace poplar {

/// What kind of device a target is.
enum class TargetType { IPU, IPU_MODEL, CPU };
POPLAR_EXPORT std::string toString(TargetType type);
POPLAR_EXPORT std::ostream& operator<<(std::ostream& out, TargetType type);

}  // namespace poplar

#endif
