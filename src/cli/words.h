// Lists on the command line.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace pando::cli {

// "name" or "name:dimension"; without a number, 0. Throws CLI::ValidationError.
std::map<std::string, std::int32_t> dimensions_of(const std::vector<std::string>& list);
// "name=size". Throws CLI::ValidationError.
std::map<std::string, std::int64_t> sizes_of(const std::vector<std::string>& list);

// Checks of an option: a finite number, more than 0, or 0 or more.
std::string check_positive(const std::string& text);
std::string check_not_negative(const std::string& text);

}  // namespace pando::cli
