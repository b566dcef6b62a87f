#include "codelet/store/cache.h"

#include <fstream>
#include <nlohmann/json.hpp>

#include "base/json_depth.h"

namespace pando {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

// How many variants of the files behind one call are remembered: switching back and forth costs nothing.
constexpr std::size_t kVariants = 8;

std::string manifest_of(const std::string& call) { return hash_text(content_hash(call)) + hash_text(content_hash(call, 1)) + ".manifest"; }

// A list of {"files": [[path, hash], ...], "object": name}.
json read_manifest(const Store& store, const std::string& call) {
  const auto text = store.find(manifest_of(call));
  json list = text && !json_nests_too_deep(*text) ? json::parse(*text, nullptr, false) : json::array();
  return list.is_array() ? list : json::array();
}

bool unchanged(const json& files) {
  for (const json& f : files) {
    const auto content = read_file(f.at(0).get<std::string>());
    if (!content || content_hash(*content) != f.at(1).get<std::uint64_t>()) return false;
  }
  return true;
}

}  // namespace

std::optional<std::string> read_file(const fs::path& path) {
  std::error_code none;
  if (!fs::is_regular_file(path, none)) return std::nullopt;
  std::ifstream in(path, std::ios::binary);
  if (!in) return std::nullopt;
  std::string content(fs::file_size(path, none), '\0');
  in.read(content.data(), static_cast<std::streamsize>(content.size()));
  content.resize(static_cast<std::size_t>(in.gcount()));
  return content;
}

std::optional<std::string> Cache::find(const std::string& call) const {
  try {
    for (const json& variant : read_manifest(store_, call)) {
      if (!unchanged(variant.at("files"))) continue;
      const auto object = variant.at("object").get<std::string>();
      auto gp = store_.find(object + ".gp");
      if (!gp || hash_text(content_hash(*gp)) != object) return std::nullopt;
      return gp;
    }
  } catch (const json::exception&) {
    return std::nullopt;  // a manifest of another shape
  }
  return std::nullopt;
}

void Cache::store(const std::string& call, const std::vector<Dependency>& dependencies, const std::string& gp) const {
  const std::string object = hash_text(content_hash(gp));
  if (!store_.put(object + ".gp", gp)) return;
  json files = json::array();
  for (const Dependency& d : dependencies) files.push_back({d.path, d.hash});
  json list = json::array({{{"files", files}, {"object", object}}});
  for (json& old : read_manifest(store_, call))
    if (list.size() < kVariants && old.is_object() && old.value("files", json()) != files) list.push_back(std::move(old));
  store_.put(manifest_of(call), list.dump(-1, ' ', false, json::error_handler_t::replace));
}

}  // namespace pando
