#ifndef poputil_exceptions_hpp
#define poputil_exceptions_hpp

#include <poplar/Export.hpp>

#include <stdexcept>
#include <string>

namespace poputil {

/// The error of all op libraries: an argument has a shape, type or value that the function cannot work with. The message says
/// which function, what it was given and what it expects.
struct POPLAR_EXPORT poplibs_error : std::runtime_error {
  /// The name of the exception class.
  std::string type;
  explicit poplibs_error(const std::string& s);
  explicit poplibs_error(const char* s);
};

}  // namespace poputil

#endif
