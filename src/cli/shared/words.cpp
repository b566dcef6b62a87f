#include "cli/shared/words.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <cmath>
#include <string_view>
#include <utility>

namespace pando::cli {

namespace {

// Of a name that is given twice one number would not count.
template <class Number>
void add_name(std::map<std::string, Number>& all, const std::string& item, const std::string& name, Number number) {
  if (name.empty()) throw CLI::ValidationError(item, "a name is expected before the number");
  if (!all.emplace(name, number).second) throw CLI::ValidationError(item, fmt::format("'{}' is given twice", name));
}

}  // namespace

std::map<std::string, std::int32_t> dimensions_of(const std::vector<std::string>& list) {
  std::map<std::string, std::int32_t> all;
  for (const std::string& item : list) {
    const std::size_t colon = item.rfind(':');
    if (colon == std::string::npos) {
      add_name(all, item, item, 0);
      continue;
    }
    const std::string number = item.substr(colon + 1);
    const std::string digits = number.starts_with('-') ? number.substr(1) : number;
    if (digits.empty() || digits.size() > 6 || digits.find_first_not_of("0123456789") != std::string::npos) {
      throw CLI::ValidationError(item, "expected name:dimension");
    }
    add_name(all, item, item.substr(0, colon), std::stoi(number));
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
    add_name(all, item, item.substr(0, at), static_cast<std::int64_t>(std::stoll(size)));
  }
  return all;
}

double bytes_of(const std::string& text) {
  std::size_t used = 0;
  double n = 0;
  try {
    n = std::stod(text, &used);
  } catch (const std::exception&) { return 0; }
  constexpr std::pair<std::string_view, double> kUnits[] = {{"", 1},
                                                            {"B", 1},
                                                            {"kB", 1e3},
                                                            {"KB", 1e3},
                                                            {"MB", 1e6},
                                                            {"GB", 1e9},
                                                            {"TB", 1e12},
                                                            {"KiB", 1024.0},
                                                            {"MiB", 1024.0 * 1024},
                                                            {"GiB", 1024.0 * 1024 * 1024},
                                                            {"TiB", 1024.0 * 1024 * 1024 * 1024}};
  for (const auto& [unit, bytes] : kUnits) {
    if (text.substr(used) == unit) return std::isfinite(n * bytes) ? n * bytes : 0;
  }
  return 0;
}

double memory_of(const std::string& text) {
  const double bytes = bytes_of(text);
  if (bytes > 0) return bytes;
  throw CLI::ValidationError("--memory", fmt::format("'{}': a number with B, kB, MB, GB, TB, KiB, MiB, GiB or TiB is expected", text));
}

}  // namespace pando::cli
