// fmt formats a poplar::ArrayRef as a list: [1,2,3].
#include <fmt/format.h>

#include <poplar/ArrayRef.hpp>

template <class T>
struct fmt::formatter<poplar::ArrayRef<T>> : fmt::formatter<fmt::string_view> {
  template <class Context>
  auto format(const poplar::ArrayRef<T>& values, Context& context) const {
    std::string text;
    for (const T& value : values) text += fmt::format("{}{}", text.empty() ? "" : ",", value);
    return fmt::formatter<fmt::string_view>::format("[" + text + "]", context);
  }
};
