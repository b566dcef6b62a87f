#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>

namespace pando::profile {

using Json = nlohmann::ordered_json;

// Throws parse_error: the report is damaged, where, and how.
[[noreturn]] void damaged(std::string_view what, const std::string& how);

}  // namespace pando::profile
