#include "base/command/arguments.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <optional>
#include <sstream>

#include "base/messages.h"

namespace pando {

namespace {

// Nothing if it is no finite number.
std::optional<double> number_of(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

template <class T>
CLI::Validator number_between(T lowest, T highest) {
  const auto check = [lowest, highest](const std::string& text) {
    T n = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
    const bool is_number = error == std::errc() && text == std::to_string(n);
    if (is_number && n >= lowest && n <= highest) return std::string();
    return fmt::format("'{}': a whole number from {} to {} is expected", text, lowest, highest);
  };
  return CLI::Validator(check, "");
}

}  // namespace

std::string check_number(const std::string& text) { return number_of(text) ? "" : "'" + text + "': a number is expected"; }

std::string check_positive(const std::string& text) {
  const auto n = number_of(text);
  return n && *n > 0 ? "" : "'" + text + "': a number above 0 is expected";
}

std::string check_not_negative(const std::string& text) {
  const auto n = number_of(text);
  return n && *n >= 0 ? "" : "'" + text + "': a number of 0 or more is expected";
}

CLI::Validator whole_number(std::int64_t lowest, std::int64_t highest) { return number_between(lowest, highest); }
CLI::Validator unsigned_number() { return number_between<std::uint64_t>(0, std::numeric_limits<std::uint64_t>::max()); }

int explain(const CLI::App& app, const CLI::ParseError& error) {
  constexpr int kWrong = 2;
  std::ostringstream help, complaint;
  const bool is_wrong = app.exit(error, help, complaint) != 0;
  fmt::print("{}", help.str());
  if (!complaint.str().empty()) complain(complaint.str());
  return is_wrong ? kWrong : 0;
}

}  // namespace pando
