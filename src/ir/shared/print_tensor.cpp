#include "ir/shared/print_tensor.h"

#include "base/check.h"
#include "ir/types/value_form.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace pando::ir {

PrintFormat print_format_of(const Attributes& a, const std::function<void(const std::string&)>& reject) {
  const auto complain = [&](const std::string& problem) {
    if (reject) reject(problem);
  };
  const auto count = [&](std::string_view name, unsigned otherwise) {
    const std::int64_t n = a.integer(name, otherwise);
    if (n < 0) complain(fmt::format("{} is {}; it must not be negative", name, n));
    return static_cast<unsigned>(n);
  };
  const auto character = [&](std::string_view name, char otherwise) {
    if (!a.has(name)) return otherwise;
    const std::string& text = a.text(name);
    if (text.size() != 1) {
      complain(fmt::format("{} is '{}'; it must be one character", name, text));
      return otherwise;
    }
    return text[0];
  };
  constexpr std::array<std::string_view, 4> formats = {"auto", "fixed", "scientific", "none"};
  const std::string_view format = a.has("float_format") ? std::string_view(a.text("float_format")) : formats[0];
  const auto it = std::find(formats.begin(), formats.end(), format);
  if (it == formats.end()) complain(fmt::format("float_format is '{}'; auto, fixed, scientific and none are possible", format));
  PrintFormat f;
  f.summarise_threshold = count("summarise_threshold", f.summarise_threshold);
  f.edge_items = count("edge_items", f.edge_items);
  f.max_line_width = count("max_line_width", f.max_line_width);
  f.digits = count("digits", f.digits);
  f.float_format = static_cast<unsigned>(it - formats.begin());
  f.separator = character("separator", f.separator);
  f.open_bracket = character("open_bracket", f.open_bracket);
  f.close_bracket = character("close_bracket", f.close_bracket);
  return f;
}

std::string text_of(const HostTensor& t, const PrintFormat& format) {
  const std::vector<std::uint64_t> shape(t.shape().begin(), t.shape().end());
  // Numbers that the machine has no type for are shown as what they count.
  if (is_float8(t.dtype())) return text_of(t.converted(DType::float32), format);
  if (is_complex(t.dtype())) return text_of(t.converted(DType::float64), format);
  return format_tensor(t.data(), value_form_of(t.dtype()).type, shape, format);
}

}  // namespace pando::ir
