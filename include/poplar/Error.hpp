#ifndef poplar_Error_hpp
#define poplar_Error_hpp

#include <poplar/Export.hpp>

#include <string>

namespace poplar {

/// Exceptions of a device.
enum class ErrorCode : unsigned { NONE = 0, EXCEPTION_FLOATING_POINT, EXCEPTION_MEMORY, EXCEPTION_INSTRUCTION, EXCEPTION_HOST_SYNC };
POPLAR_EXPORT std::string toString(ErrorCode code);

}  // namespace poplar

#endif
