#include "poplar/OptionFlags.hpp"

#include <cstdlib>
#include <iterator>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json_depth.h"

namespace poplar {

using pando::ErrorKind;
using pando::fail;

void OptionFlags::set(StringRef option, StringRef value) { map_[option.cloneAsString()] = value.cloneAsString(); }

void OptionFlags::set(initializer_list flags) {
  for (const OptionFlag& f : flags) map_[f.first] = f.second;
}

StringRef OptionFlags::at(StringRef option) const {
  const auto it = find(option);
  if (it == end()) fail(ErrorKind::index_error, "option-not-set", "option '{}' is not set", option.cloneAsString());
  return it->second;
}

void readJSON(StringRef json, OptionFlags& flags) {
  if (pando::json_nests_too_deep({json.begin(), json.end()}))
    fail(ErrorKind::parse_error, "options-json", "options are JSON that nests too deep");
  const auto parsed = nlohmann::ordered_json::parse(json.begin(), json.end(), nullptr, false);
  if (parsed.is_discarded()) fail(ErrorKind::parse_error, "options-json", "options are no JSON: '{}'", json.cloneAsString());
  if (!parsed.is_object()) fail(ErrorKind::parse_error, "options-json", "options must be a JSON object, not {}", parsed.type_name());
  for (const auto& [key, value] : parsed.items()) {
    if (value.is_structured() || value.is_null())
      fail(ErrorKind::parse_error, "options-json", "option '{}' must be a string, a number or a boolean, not {}", key, value.type_name());
    flags.set(key, value.is_string() ? value.get<std::string>() : value.dump());
  }
}

void readJSON(std::istream& json, OptionFlags& flags) {
  const std::string text{std::istreambuf_iterator<char>(json), std::istreambuf_iterator<char>()};
  readJSON(StringRef(text), flags);
}

void readJSONFromEnv(StringRef variable, OptionFlags& flags) {
  if (const char* json = std::getenv(variable.cloneAsString().c_str())) readJSON(StringRef(json), flags);
}

std::ostream& operator<<(std::ostream& out, const OptionFlags& flags) {
  nlohmann::json j = nlohmann::json::object();
  for (const auto& [key, value] : flags) j[key] = value;
  return out << j.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

ProfileValue getAsProfileValue(const OptionFlags& flags) {
  ProfileValue::Map map;
  for (const auto& [key, value] : flags) map.emplace(key, ProfileValue(value));
  return map;
}

}  // namespace poplar
