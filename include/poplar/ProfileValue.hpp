#ifndef poplar_ProfileValue_hpp
#define poplar_ProfileValue_hpp

#include <poplar/Export.hpp>
#include <poplar/StringRef.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <ostream>
#include <string>
#include <type_traits>
#include <vector>

namespace poplar {

/// A JSON-like value: a string, a number, a boolean, a list or a map.
class POPLAR_EXPORT ProfileValue {
 public:
  using String = std::string;
  using Number = double;
  using Boolean = bool;
  using Vector = std::vector<ProfileValue>;
  using Map = std::map<std::string, ProfileValue>;
  enum class Type { NUMBER, STRING, BOOL, VECTOR, MAP };

  /// The number 0.
  ProfileValue() : type_(Type::NUMBER), number_(0) {}
  template <class T, class = typename std::enable_if<std::is_arithmetic<T>::value && !std::is_same<T, bool>::value>::type>
  ProfileValue(T v) : type_(Type::NUMBER), number_(static_cast<double>(v)) {}
  ProfileValue(bool v) : type_(Type::BOOL), boolean_(v) {}
  ProfileValue(String v);
  ProfileValue(const char* v);
  ProfileValue(StringRef v);
  ProfileValue(Vector v);
  ProfileValue(Map v);
  ProfileValue(const ProfileValue& other);
  ProfileValue(ProfileValue&& other) noexcept;
  ProfileValue& operator=(const ProfileValue& other);
  ProfileValue& operator=(ProfileValue&& other) noexcept;
  ~ProfileValue();

  Type type() const { return type_; }
  // Each throws type_error if the value is of another type.
  const String& asString() const;
  Number asNumber() const;
  Boolean asBool() const;
  const Vector& asVector() const;
  Vector& asVector();
  const Map& asMap() const;
  Map& asMap();
  int asInt() const { return static_cast<int>(asNumber()); }
  unsigned asUint() const { return static_cast<unsigned>(asNumber()); }
  double asDouble() const { return asNumber(); }
  /// The element of a list (index_error if there is none).
  const ProfileValue& operator[](std::size_t i) const;
  template <class T, class = typename std::enable_if<std::is_integral<T>::value>::type> const ProfileValue& operator[](T i) const {
    return (*this)[static_cast<std::size_t>(i)];
  }
  /// The entry of a map (index_error if there is none).
  const ProfileValue& operator[](const std::string& key) const;
  const ProfileValue& operator[](const char* key) const { return (*this)[std::string(key)]; }
  /// The sum of a list of numbers.
  std::uint64_t sumUint() const;
  /// Elements of a list or map.
  std::size_t size() const;

  friend POPLAR_EXPORT bool operator==(const ProfileValue& a, const ProfileValue& b);
  friend bool operator!=(const ProfileValue& a, const ProfileValue& b) { return !(a == b); }

 private:
  void clear() noexcept;
  Type type_;
  union {
    double number_;
    bool boolean_;
    String* string_;
    Vector* vector_;
    Map* map_;
  };
};

/// Writes JSON.
POPLAR_EXPORT std::ostream& operator<<(std::ostream& out, const ProfileValue& value);
POPLAR_EXPORT void serializeToJSON(std::ostream& out, const ProfileValue& value, bool prettyPrint = false);

}  // namespace poplar

#endif
