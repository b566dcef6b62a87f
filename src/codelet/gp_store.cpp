#include "codelet/gp_store.h"

#include <sys/stat.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <tuple>
#include <utility>

#include "codelet/store/cache.h"

namespace pando {

namespace {

// What tells a file from another one of the same name.
using Stamp = std::tuple<dev_t, ino_t, off_t, std::int64_t, std::int64_t>;

bool shares_code(const GpDescription& d) {
  return d.globals_size == 0 && d.undefined.empty() &&
         std::none_of(d.codelets.begin(), d.codelets.end(), [](const Codelet& c) { return c.uses_tile; });
}

std::shared_ptr<const StoredGp> load(const std::string& path, std::string bytes, const std::function<GpFile(std::string&)>& parse) {
  auto out = std::make_shared<StoredGp>();
  out->gp = parse(bytes);
  out->hash = hash_text(content_hash(bytes));
  out->bytes = std::move(bytes);
  out->gp.bitcode = std::string();
  GpDescription& d = out->gp.description;
  if (const GpObject* const best = best_object(d)) out->code = best->code;
  for (GpObject& o : d.objects) o.code = std::string();
  if (shares_code(d) && !out->code.empty()) {
    out->object = std::make_shared<LoadedObject>(out->code, d.libraries, path, ModuleId(0));
    out->code = std::string();
  }
  return out;
}

}  // namespace

SharedCodelets shared_codelets(const std::vector<Codelet>& codelets, ModuleId module, const LoadedObject* object, const std::string& name) {
  SharedCodelets out;
  for (const Codelet& c : codelets) {
    const auto copy = std::make_shared<Codelet>(c);
    copy->module = module;
    if (object) object->set_code(*copy, name);
    out.push_back(copy);
  }
  return out;
}

const SharedCodelets& StoredGp::codelets_of(ModuleId id, const std::string& name) const {
  const std::lock_guard lock(mutex_);
  const auto known = codelets_.find(id.value);
  if (known != codelets_.end()) return known->second;
  return codelets_[id.value] = shared_codelets(gp.description.codelets, id, object.get(), name);
}

std::shared_ptr<const StoredGp> stored_gp(const std::string& path, const std::function<GpFile(std::string& bytes)>& parse) {
  static std::mutex mutex;
  static std::map<std::string, std::pair<Stamp, std::shared_ptr<const StoredGp>>> files;
  struct stat info{};
  if (stat(path.c_str(), &info) != 0) return nullptr;
  const Stamp stamp(info.st_dev, info.st_ino, info.st_size, info.st_mtim.tv_sec, info.st_mtim.tv_nsec);
  const std::lock_guard lock(mutex);
  const auto known = files.find(path);
  if (known != files.end() && known->second.first == stamp) return known->second.second;
  auto bytes = read_file(path);
  if (!bytes) return nullptr;
  auto stored = load(path, std::move(*bytes), parse);
  files[path] = {stamp, stored};
  return stored;
}

}  // namespace pando
