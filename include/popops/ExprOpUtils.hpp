#ifndef popops_ExprOpUtils_hpp
#define popops_ExprOpUtils_hpp

#include <iosfwd>
#include <poplar/Export.hpp>
#include <popops/ExprOp.hpp>

namespace popops {
namespace expr {
namespace ostream_ext {

/// Write the enumerator's name: "ADD".
POPLAR_EXPORT std::ostream& operator<<(std::ostream& os, const UnaryOpType& t);
POPLAR_EXPORT std::ostream& operator<<(std::ostream& os, const BinaryOpType& t);
POPLAR_EXPORT std::ostream& operator<<(std::ostream& os, const TernaryOpType& t);

}  // namespace ostream_ext
}  // namespace expr
}  // namespace popops

#endif
