// "{}"_format(values...) of fmt up to 8, which fmt 9 has no longer.
#include <fmt/format.h>
#include <cstddef>
#include <string>

FMT_BEGIN_NAMESPACE
inline namespace literals {
struct FormatLiteral {
  string_view text;

  template <class... Values>
  std::string operator()(const Values&... values) const {
    return fmt::format(runtime(text), values...);
  }
};

inline FormatLiteral operator""_format(const char* text, std::size_t size) { return {{text, size}}; }
}  // namespace literals
FMT_END_NAMESPACE
