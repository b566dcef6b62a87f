#include "poplibs/codelet_file.h"
#include "poplibs/poputil/reject.h"

#include <dlfcn.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <map>
#include <mutex>

#include <poplar/Export.hpp>
#include <poputil/exceptions.hpp>

namespace pando::poplibs {

namespace {

std::string path_of(const std::string& name, const void* inside) {
  std::string variable = "IPU_" + name + "_GP";
  std::transform(variable.begin(), variable.end(), variable.begin(), [](unsigned char c) { return std::toupper(c); });
  if (const char* chosen = std::getenv(variable.c_str()); chosen && *chosen) return chosen;
  Dl_info info;
  if (dladdr(inside, &info) == 0 || info.dli_fname == nullptr) return name + ".gp";
  const std::string library = info.dli_fname;
  return library.substr(0, library.rfind('/') + 1) + name + ".gp";
}

// The library lays out data as its own build's kernels read them.
void check_kernels(const std::string& name, const char* version) {
  void* const kernels = dlopen("libpando_kernels.so", RTLD_NOW | RTLD_NOLOAD);
  const bool fits = kernels != nullptr && dlsym(kernels, version) != nullptr;
  if (kernels != nullptr) dlclose(kernels);
  if (!fits)
    poputil::reject("kernels-version", "{}",
                    "lib" + name + ".so was built for a libpando_kernels.so with the symbol " + version + ", which the loaded " +
                        "libpando_kernels.so does not have: build or install both together");
}

// Of all files of a library. They are made once in a process: each is a name and a function, and there are hundreds.
const std::vector<Estimates>& estimates_of(const std::vector<Estimates (*)()>& files) {
  static std::mutex mutex;
  static std::map<std::vector<Estimates (*)()>, std::vector<Estimates>> known;
  const std::lock_guard lock(mutex);
  std::vector<Estimates>& out = known[files];
  if (out.empty())
    for (const auto& file : files) out.push_back(file());
  return out;
}

}  // namespace

POPLAR_EXPORT void add_codelet_file(poplar::Graph& graph, const char* name, const void* inside, const char* kernels,
                                    const std::vector<Estimates (*)()>& files) {
  if (files.empty()) return;
  const std::vector<Estimates>& estimates = estimates_of(files);
  for (const Estimates& rows : estimates)
    if (!rows.empty() && graph.hasCodelet(rows.front().vertex)) return;
  graph.addCodelets(path_of(name, inside));
  check_kernels(name, kernels);
  for (const Estimates& rows : estimates)
    for (const Estimate& row : rows) graph.registerPerfEstimator(row.vertex, row.cost);
}

}  // namespace pando::poplibs
