// The .gp files that this process has loaded by name. The files of the op libraries are megabytes, and programs (tests above all)
// build many graphs: a file that has not changed is read, checked and linked into the process once.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/shared_bytes.h"
#include "codelet/loader.h"
#include "codelet/store/gp_file.h"

namespace pando {

using SharedCodelets = std::vector<std::shared_ptr<const Codelet>>;

struct StoredGp {
  // The codelets with the code of `object`, as those of a library's module `id`: made once for each id that somebody asks for. Throws
  // graph_object_load_error, which names the file `name`, if code is missing. Safe for several threads.
  const SharedCodelets& codelets_of(ModuleId id, const std::string& name) const;

  SharedBytes bytes;
  std::string hash;
  GpFile gp;                             // without bitcode and code: they are in `bytes`
  std::string code;                      // the shared object for this processor, if each graph needs its own
  std::shared_ptr<LoadedObject> object;  // null if each graph needs code of its own: per-tile globals, undefined symbols

 private:
  mutable std::mutex mutex_;
  mutable std::map<ModuleId::rep, SharedCodelets> codelets_;
};

// Each with a copy of its own in `module`, with the code of `object` unless that is null.
SharedCodelets shared_codelets(const std::vector<Codelet>& codelets, ModuleId module, const LoadedObject* object, const std::string& name);

// The file at `path` as it is now: size and time of change decide. `parse` reads new bytes (and may replace them). Null if the
// file cannot be read; what `parse` throws passes through. Safe for several threads.
std::shared_ptr<const StoredGp> stored_gp(const std::string& path, const std::function<GpFile(std::string& bytes)>& parse);

}  // namespace pando
