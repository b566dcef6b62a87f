#include "cli/words.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <optional>

namespace pando::cli {

namespace {

// Nothing if it is no finite number.
std::optional<double> number_of(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
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

CLI::Validator whole_number(std::int64_t lowest, std::int64_t highest) {
  const auto check = [lowest, highest](const std::string& text) {
    std::int64_t n = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
    const bool is_number = error == std::errc() && text == std::to_string(n);
    if (is_number && n >= lowest && n <= highest) return std::string();
    return fmt::format("'{}': a whole number from {} to {} is expected", text, lowest, highest);
  };
  return CLI::Validator(check, "");
}

std::map<std::string, std::int32_t> dimensions_of(const std::vector<std::string>& list) {
  std::map<std::string, std::int32_t> all;
  for (const std::string& item : list) {
    const std::size_t colon = item.rfind(':');
    if (colon == std::string::npos) {
      all[item] = 0;
      continue;
    }
    const std::string number = item.substr(colon + 1);
    const std::string digits = number.starts_with('-') ? number.substr(1) : number;
    if (digits.empty() || digits.size() > 6 || digits.find_first_not_of("0123456789") != std::string::npos) {
      throw CLI::ValidationError(item, "expected name:dimension");
    }
    all[item.substr(0, colon)] = std::stoi(number);
  }
  return all;
}

std::map<std::string, std::int64_t> sizes_of(const std::vector<std::string>& list) {
  std::map<std::string, std::int64_t> all;
  for (const std::string& item : list) {
    const std::size_t at = item.find('=');
    const std::string size = at == std::string::npos ? "" : item.substr(at + 1);
    if (size.empty() || size.size() > 12 || size.find_first_not_of("0123456789") != std::string::npos) {
      throw CLI::ValidationError(item, "expected name=size");
    }
    all[item.substr(0, at)] = std::stoll(size);
  }
  return all;
}

}  // namespace pando::cli
