#ifndef poplar_Type_hpp
#define poplar_Type_hpp

#include <poplar/Export.hpp>
#include <poplar/StringRef.hpp>

#include <cstddef>
#include <functional>
#include <ostream>
#include <string>

namespace poplar {

/// The element type of a tensor. A default-constructed Type is no type.
class POPLAR_EXPORT Type {
 public:
  constexpr Type() noexcept : code_(255) {}
  constexpr Type(const Type&) noexcept = default;
  Type& operator=(const Type&) noexcept = default;
  // Not trivial, as programs expect: compilers warn of trivial variables that nobody reads.
#if __cplusplus >= 202002L
  constexpr
#endif
      ~Type() {
  }
  /// The spelling used in vertex names: "float", "half", "unsigned int" ...
  std::string toString() const;
  /// Is this FLOAT, HALF, QUARTER or DOUBLE?
  bool isFloatingPoint() const;
  /// Is this an 8-bit float type, whose tensors carry a metadata tensor?
  bool requiresMetadata() const;

  friend constexpr bool operator==(const Type& a, const Type& b) noexcept { return a.code_ == b.code_; }
  friend constexpr bool operator!=(const Type& a, const Type& b) noexcept { return a.code_ != b.code_; }
  friend constexpr bool operator<(const Type& a, const Type& b) noexcept { return a.code_ < b.code_; }

 private:
  friend struct pando::facade::Access;
  friend struct std::hash<Type>;
  explicit constexpr Type(unsigned char code) noexcept : code_(code) {}
  unsigned char code_;
};

POPLAR_EXPORT std::ostream& operator<<(std::ostream& out, const Type& type);
inline bool requiresMetadata(const Type& type) { return type.requiresMetadata(); }

// Sizes: 1 byte: BOOL, CHAR family, QUARTER; 2: SHORT family, HALF; 4: INT family, FLOAT; 8: LONG and LONGLONG families, DOUBLE.
// LONG, UNSIGNED_LONG and DOUBLE do not exist on IPUs.
extern POPLAR_EXPORT Type BOOL;
extern POPLAR_EXPORT Type CHAR;
extern POPLAR_EXPORT Type SIGNED_CHAR;
extern POPLAR_EXPORT Type UNSIGNED_CHAR;
extern POPLAR_EXPORT Type SHORT;
extern POPLAR_EXPORT Type SIGNED_SHORT;
extern POPLAR_EXPORT Type UNSIGNED_SHORT;
extern POPLAR_EXPORT Type INT;
extern POPLAR_EXPORT Type SIGNED_INT;
extern POPLAR_EXPORT Type SIGNED;
extern POPLAR_EXPORT Type UNSIGNED_INT;
extern POPLAR_EXPORT Type UNSIGNED;
extern POPLAR_EXPORT Type LONG;
extern POPLAR_EXPORT Type UNSIGNED_LONG;
extern POPLAR_EXPORT Type LONGLONG;
extern POPLAR_EXPORT Type UNSIGNED_LONGLONG;
extern POPLAR_EXPORT Type QUARTER;
extern POPLAR_EXPORT Type QUARTER_METADATA;
extern POPLAR_EXPORT Type HALF;
extern POPLAR_EXPORT Type FLOAT;
extern POPLAR_EXPORT Type DOUBLE;

/// `equivalent_device_type<T>().value` is the device type of the host type T.
template <class T> struct equivalent_device_type;
template <class T> struct equivalent_device_type<const T> : equivalent_device_type<T> {};

/// Declares that host type T1 is device type T2.
#define POPLAR_DECLARE_EQUIV_TYPE(T1, T2)         \
  template <> struct equivalent_device_type<T1> { \
    const ::poplar::Type& value = T2;             \
  };

POPLAR_DECLARE_EQUIV_TYPE(bool, BOOL)
POPLAR_DECLARE_EQUIV_TYPE(char, CHAR)
POPLAR_DECLARE_EQUIV_TYPE(signed char, SIGNED_CHAR)
POPLAR_DECLARE_EQUIV_TYPE(unsigned char, UNSIGNED_CHAR)
POPLAR_DECLARE_EQUIV_TYPE(short, SHORT)
POPLAR_DECLARE_EQUIV_TYPE(unsigned short, UNSIGNED_SHORT)
POPLAR_DECLARE_EQUIV_TYPE(int, INT)
POPLAR_DECLARE_EQUIV_TYPE(unsigned int, UNSIGNED_INT)
POPLAR_DECLARE_EQUIV_TYPE(long, LONG)
POPLAR_DECLARE_EQUIV_TYPE(unsigned long, UNSIGNED_LONG)
POPLAR_DECLARE_EQUIV_TYPE(long long, LONGLONG)
POPLAR_DECLARE_EQUIV_TYPE(unsigned long long, UNSIGNED_LONGLONG)
POPLAR_DECLARE_EQUIV_TYPE(float, FLOAT)
POPLAR_DECLARE_EQUIV_TYPE(double, DOUBLE)

}  // namespace poplar

namespace std {
template <> struct hash<poplar::Type> {
  size_t operator()(const poplar::Type& t) const noexcept { return t.code_; }
};
}  // namespace std

#endif
