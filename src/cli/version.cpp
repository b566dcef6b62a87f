// What `pando --version` prints: which versions of what this installation consists of, what it uses of the processor, and where it keeps
// things.
#include "cli/version.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <vector>

#include "base/files/store.h"
#include "base/version.h"
#include "codelet/popc/popc_process.h"
#include "codelet/store/cache.h"
#include "codelet/store/cpu_features.h"
#include "codelet/store/gp_file.h"

namespace pando::cli {
namespace {

namespace fs = std::filesystem;

std::string compiler() {
  const auto popc = find_popc();
  if (!popc) return "none in PANDO_POPC, beside the libraries or in PATH: codelets of your own are not compiled";
  if (access(popc->c_str(), X_OK) != 0) return fmt::format("{} cannot be run", *popc);
  std::istringstream said(run_popc({"--version"}, "").messages);
  std::string line, all;
  while (std::getline(said, line)) all += (all.empty() ? "" : ", ") + line;
  return fmt::format("{} ({})", *popc, all);
}

std::string vectors() {
  const char* const most = std::getenv("PANDO_VECTORS");
  if (most == nullptr) return "PANDO_VECTORS is not set";
  const auto levels = processor_levels();
  const std::string said = std::string("PANDO_VECTORS=") + most;
  if (levels.empty()) return said + " does not count on this kind of processor";
  if (std::any_of(levels.begin(), levels.end(), [&](const ProcessorLevel& l) { return l.vectors == most; })) return said;
  return said + " does not count: ssse3, avx2 or avx512 was expected";
}

std::string level() {
  if (processor_levels().empty()) return "code of the libraries has no levels on this kind of processor";
  const std::string_view level = level_in_use();
  return std::string(level.empty() ? "below all that libraries are compiled for" : level);
}

// Which code of a library's codelets is loaded here.
std::string code_of(const fs::path& file) {
  const auto bytes = read_file(file);
  if (!bytes) return "cannot be read";
  try {
    const GpDescription d = read_gp(*bytes, file.string()).description;
    const GpObject* const best = best_object(d);
    if (!best) return "has no code for this processor";
    if (best->level.empty()) return "code for the processor that it was compiled on";
    std::vector<std::string> levels;
    for (const GpObject& o : d.objects) levels.push_back(o.level);
    return fmt::format("code for {}, of {}", best->level, fmt::join(levels, ", "));
  } catch (const std::exception& e) { return e.what(); }
}

std::string libraries() {
  std::error_code none;
  const fs::path folder = fs::read_symlink("/proc/self/exe", none).parent_path().parent_path() / "lib";
  std::string out;
  for (const char* name : {"popops.gp", "poplin.gp", "popnn.gp", "poprand.gp", "ontile.gp"})
    if (fs::exists(folder / name, none)) out += fmt::format("  {:<20} {}\n", name, code_of(folder / name));
  return out.empty() ? out : fmt::format("codelets in {}\n{}", folder.string(), out);
}

}  // namespace

std::string versions() {
  const auto folder = Store::folder_of_user();
  const std::vector<std::string> features = host_cpu_features();
  std::string out = fmt::format("pando {}\n", version());
  const auto line = [&](const char* what, const std::string& text) { out += fmt::format("  {:<20} {}\n", what, text); };
  line("Poplar and PopXL", fmt::format("interfaces of {}", sdk_version()));
  line("popc", compiler());
  line("processor", fmt::format("{}", fmt::join(features, " ")));
  line("level", fmt::format("{} ({})", level(), vectors()));
  line("caches", folder ? folder->string() : "none: neither XDG_CACHE_HOME nor HOME is set");
  line("built with", fmt::format("clang {}, fmt {}.{}.{}, nlohmann_json {}.{}.{}, CLI11 {}", __clang_version__, FMT_VERSION / 10000,
                                 FMT_VERSION / 100 % 100, FMT_VERSION % 100, NLOHMANN_JSON_VERSION_MAJOR, NLOHMANN_JSON_VERSION_MINOR,
                                 NLOHMANN_JSON_VERSION_PATCH, CLI11_VERSION));
  out += libraries();
  out.pop_back();  // the library of command lines ends the line
  return out;
}

}  // namespace pando::cli
