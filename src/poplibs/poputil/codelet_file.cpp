#include "poplibs/codelet_file.h"

#include <dlfcn.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>

#include <poplar/Export.hpp>

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

}  // namespace

POPLAR_EXPORT void add_codelet_file(poplar::Graph& graph, const char* name, const void* inside, const std::vector<Estimates (*)()>& files) {
  if (files.empty()) return;
  std::vector<Estimates> estimates;
  for (const auto& file : files) estimates.push_back(file());
  for (const Estimates& rows : estimates)
    if (!rows.empty() && graph.hasCodelet(rows.front().vertex)) return;
  graph.addCodelets(path_of(name, inside));
  for (const Estimates& rows : estimates)
    for (const Estimate& row : rows) graph.registerPerfEstimator(row.vertex, row.cost);
}

}  // namespace pando::poplibs
