#ifndef poplar_TypeTraits_hpp
#define poplar_TypeTraits_hpp

#include <cstddef>
#include <type_traits>

namespace poplar {

/// What there is to know about a host type, as data.
struct TypeTraits {
  std::size_t size;   ///< bytes
  std::size_t align;  ///< bytes
  bool isIntegral;
  bool isFloat;
  bool isSigned;

  TypeTraits() : size(0), align(1), isIntegral(false), isFloat(false), isSigned(false) {}

  /// The traits of T.
  template <class T> static TypeTraits make() {
    TypeTraits t;
    t.size = sizeof(T);
    t.align = alignof(T);
    t.isIntegral = std::is_integral<T>::value;
    t.isFloat = std::is_floating_point<T>::value;
    t.isSigned = std::is_signed<T>::value;
    return t;
  }
  /// Can a value of type T be handled as its bytes, as a number?
  template <class T> static constexpr bool isSimpleType() { return std::is_integral<T>::value || std::is_floating_point<T>::value; }
};

inline bool operator==(const TypeTraits& a, const TypeTraits& b) {
  return a.size == b.size && a.align == b.align && a.isIntegral == b.isIntegral && a.isFloat == b.isFloat && a.isSigned == b.isSigned;
}
inline bool operator!=(const TypeTraits& a, const TypeTraits& b) { return !(a == b); }

}  // namespace poplar

#endif
