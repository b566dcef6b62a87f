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

// "28GB", "624KiB" or bytes; 0 if it is none of these.
double bytes_of(const std::string& text);
// The same of --memory. Throws CLI::ValidationError where it is none of these, or not more than 0.
double memory_of(const std::string& text);

}  // namespace pando::cli
