#ifndef poplar_StringRef_hpp
#define poplar_StringRef_hpp

#include <poplar/ArrayRef.hpp>

#include <cstring>
#include <ostream>
#include <string>

namespace poplar {

/// A read-only view of a string that somebody else owns.
class StringRef : public ArrayRef<char> {
 public:
  StringRef() noexcept = default;
  StringRef(const char* s) noexcept : ArrayRef<char>(s, s ? std::strlen(s) : 0) {}
  StringRef(const std::string& s) noexcept : ArrayRef<char>(s.data(), s.size()) {}
  StringRef(const char* s, std::size_t length) noexcept : ArrayRef<char>(s, length) {}

  std::string cloneAsString() const { return empty() ? std::string() : std::string(data(), size()); }
  operator std::string() const { return cloneAsString(); }
};

inline bool operator==(StringRef a, StringRef b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size()) == 0);
}
inline bool operator!=(StringRef a, StringRef b) { return !(a == b); }
inline bool operator<(StringRef a, StringRef b) { return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end()); }
inline std::string operator+(StringRef a, const std::string& b) { return a.cloneAsString() + b; }
inline std::string operator+(const std::string& a, StringRef b) { return a + b.cloneAsString(); }
inline std::string operator+(StringRef a, const char* b) { return a.cloneAsString() + b; }
inline std::string operator+(const char* a, StringRef b) { return a + b.cloneAsString(); }
inline std::string operator+(StringRef a, StringRef b) { return a.cloneAsString() + b.cloneAsString(); }
inline std::ostream& operator<<(std::ostream& out, StringRef s) { return out.write(s.data(), static_cast<std::streamsize>(s.size())); }

}  // namespace poplar

#endif
