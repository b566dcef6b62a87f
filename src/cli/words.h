// Numbers and lists on the command line.
#pragma once

#include <CLI/CLI.hpp>

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

namespace pando::cli {

// "name" or "name:dimension"; without a number, 0. Throws CLI::ValidationError.
std::map<std::string, std::int32_t> dimensions_of(const std::vector<std::string>& list);
// "name=size". Throws CLI::ValidationError.
std::map<std::string, std::int64_t> sizes_of(const std::vector<std::string>& list);

// Checks of an option: a finite number, any, more than 0, or 0 or more.
std::string check_number(const std::string& text);
std::string check_positive(const std::string& text);
std::string check_not_negative(const std::string& text);

// The check of an option that is a whole number in this range. The parser would take the nearest that fits for one out of it, and another
// number for one with zeros in front.
CLI::Validator whole_number(std::int64_t lowest, std::int64_t highest);
// How many of something there are, at least one.
template <class T>
CLI::Validator at_least_one() {
  return whole_number(1, std::numeric_limits<T>::max());
}

}  // namespace pando::cli
