#ifndef poplar_VariableMappingMethod_hpp
#define poplar_VariableMappingMethod_hpp

#include <poplar/Export.hpp>

#include <ostream>
#include <string>

namespace poplar {

/// How addVariable maps a variable: not at all, or in equal parts over the tiles in order.
enum class VariableMappingMethod { NONE, LINEAR };
POPLAR_EXPORT std::string toString(VariableMappingMethod method);
POPLAR_EXPORT std::ostream& operator<<(std::ostream& out, VariableMappingMethod method);

}  // namespace poplar

#endif
