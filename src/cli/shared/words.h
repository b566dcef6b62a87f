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

}  // namespace pando::cli
