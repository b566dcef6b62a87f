#ifndef popops_OperationDefUtil_hpp
#define popops_OperationDefUtil_hpp

#include <popops/Operation.hpp>
#include <poputil/VertexTemplates.hpp>
#include <poputil/exceptions.hpp>

#include <string>

namespace poputil {

/// A readable name for names of compute sets and vertices: "Square Add".
inline const char* asString(const popops::Operation& op) {
  static const char* const names[] = {"Add", "Mul", "Min", "Max", "Logical And", "Logical Or", "Square Add", "Log Add"};
  const unsigned index = static_cast<unsigned>(op);
  if (index >= sizeof names / sizeof names[0])
    throw poputil::poplibs_error("asString: there is no popops::Operation number " + std::to_string(index));
  return names[index];
}

/// The enumerator as a template argument of a vertex: "popops::Operation::SQUARE_ADD".
template <> struct VertexTemplateToString<popops::Operation> {
  static std::string to_string(const popops::Operation& op) {
    static const char* const names[] = {"ADD", "MUL", "MIN", "MAX", "LOGICAL_AND", "LOGICAL_OR", "SQUARE_ADD", "LOG_ADD"};
    const unsigned index = static_cast<unsigned>(op);
    if (index >= sizeof names / sizeof names[0])
      throw poputil::poplibs_error("templateVertex: there is no popops::Operation number " + std::to_string(index));
    return std::string("popops::Operation::") + names[index];
  }
};

}  // namespace poputil

#endif
