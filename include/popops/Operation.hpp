#ifndef popops_Operation_hpp
#define popops_Operation_hpp

#include <popops/OperationDef.hpp>

#include <poplar/Export.hpp>

#include <iosfwd>

namespace popops {

/// Reads the name of an enumerator, such as "SQUARE_ADD"; throws poputil::poplibs_error for another word.
POPLAR_EXPORT std::istream& operator>>(std::istream& is, Operation& op);
/// Writes the name of the enumerator.
POPLAR_EXPORT std::ostream& operator<<(std::ostream& os, const Operation& op);

}  // namespace popops

#endif
