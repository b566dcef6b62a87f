#ifndef poputil_VertexTemplates_hpp
#define poputil_VertexTemplates_hpp

#include <poplar/StringRef.hpp>
#include <poplar/Type.hpp>

#include <string>

namespace poputil {

/// How a value is written as a template parameter of a vertex. Specialise it for enumerations; numbers are written in decimal.
template <typename T> struct VertexTemplateToString {
  static std::string to_string(const T& x) { return std::to_string(x); }
};
template <> struct VertexTemplateToString<bool> {
  static std::string to_string(bool x) { return x ? "true" : "false"; }
};
template <> struct VertexTemplateToString<std::string> {
  static std::string to_string(const std::string& x) { return x; }
};
template <> struct VertexTemplateToString<const char*> {
  static std::string to_string(const char* x) { return x; }
};
template <> struct VertexTemplateToString<poplar::StringRef> {
  static std::string to_string(const poplar::StringRef& x) { return x.cloneAsString(); }
};
template <> struct VertexTemplateToString<poplar::Type> {
  static std::string to_string(const poplar::Type& x) { return x.toString(); }
};

// One parameter after the other: "<a", ",b", ">".
inline std::string templateVertexParams(bool first) { return first ? "" : ">"; }
template <typename... Args> std::string templateVertexParams(bool first, const char* val, Args&&... args);
template <typename T, typename... Args> std::string templateVertexParams(bool first, const T& val, Args&&... args) {
  return (first ? "<" : ",") + VertexTemplateToString<T>::to_string(val) + templateVertexParams(false, args...);
}
template <typename... Args> std::string templateVertexParams(bool first, const char* val, Args&&... args) {
  return templateVertexParams(first, poplar::StringRef(val), args...);
}

/// The name of an instantiation of a vertex template: templateVertex("popops::Fill", FLOAT) is "popops::Fill<float>". Parameters
/// are types, strings (verbatim), booleans, numbers, and enumerators with a VertexTemplateToString. Without any: the name alone.
template <typename... Args> inline std::string templateVertex(const std::string& name, Args&&... args) {
  return name + templateVertexParams(true, args...);
}

}  // namespace poputil

#endif
