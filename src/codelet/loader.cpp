#include "codelet/loader.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <fstream>

#include "base/error.h"
#include "base/files/temporary.h"
#include "codelet/code_ranges.h"
#include "codelet/runtime/tile_context.h"
#include "codelet/store/gp_file.h"

namespace pando {

namespace {

// The dynamic linker takes two objects of the same name for one, and descriptor numbers are reused. So each object gets a
// spelling of its own of /proc/self/fd/N: the bits of a counter as "./" and "/".
std::string unique_path(int fd) {
  static std::atomic<std::uint32_t> counter{0};
  std::string path = "/proc/self/fd/";
  for (std::uint32_t n = counter++; n != 0; n >>= 1) path += (n & 1) ? "./" : "/";
  return path + std::to_string(fd);
}

bool write_all(int fd, const std::string& content) {
  for (std::size_t done = 0; done < content.size();) {
    const ssize_t n = write(fd, content.data() + done, content.size() - done);
    if (n <= 0) return false;
    done += static_cast<std::size_t>(n);
  }
  return true;
}

// Does a debugger look on? It finds symbols and lines of what was loaded from a file.
bool is_traced() {
  std::ifstream status("/proc/self/status");
  const std::string word = "TracerPid:";
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(word)) return std::strtol(line.c_str() + word.size(), nullptr, 10) != 0;
  return false;
}

// The object's own reference to the library is met by this copy, whose name is the same.
void load_library(const std::string& library, const std::string& name) {
  Dl_info info;
  if (dladdr(reinterpret_cast<const void*>(&runtime_table), &info) != 0 && info.dli_fname != nullptr) {
    const std::string path = info.dli_fname;
    if (dlopen((path.substr(0, path.rfind('/') + 1) + library).c_str(), RTLD_NOW | RTLD_LOCAL)) return;
  }
  if (dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL)) return;
  fail(ErrorKind::graph_object_load_error, "gp-library", "'{}' cannot be loaded: its code calls {}: {}", name, library, dlerror());
}

}  // namespace

LoadedObject::LoadedObject(const std::string& object, const std::vector<std::string>& libraries, const std::string& name, ModuleId slot) {
  for (const std::string& library : libraries) load_library(library, name);
  if (is_traced()) {
    file_ = temporary_file(".so");
    std::ofstream(file_, std::ios::binary) << object;
    handle_ = dlopen(file_.c_str(), RTLD_NOW | RTLD_LOCAL);
  }
  const int fd = handle_ ? -1 : memfd_create("codelets", MFD_CLOEXEC);
  if (fd >= 0 && write_all(fd, object)) handle_ = dlopen(unique_path(fd).c_str(), RTLD_NOW | RTLD_LOCAL);
  const char* message = handle_ ? nullptr : dlerror();
  if (fd >= 0) close(fd);
  if (!handle_)
    fail(ErrorKind::graph_object_load_error, "gp-load", "'{}' cannot be loaded: {}", name, message ? message : "no memory for its code");
  void* runtime = find(kRuntimeSymbol);
  void* module_slot = find(kModuleSlotSymbol);
  if (!runtime || !module_slot) {
    dlclose(handle_);
    fail(ErrorKind::graph_object_load_error, "gp-load", "'{}' cannot be loaded: its object lacks '{}'", name,
         runtime ? kModuleSlotSymbol : kRuntimeSymbol);
  }
  *static_cast<const PandoRuntime**>(runtime) = &runtime_table();
  *static_cast<unsigned*>(module_slot) = slot.value;
  add_code_of(handle_);
}

LoadedObject::~LoadedObject() {
  remove_code_of(handle_);
  dlclose(handle_);
  if (!file_.empty()) ::unlink(file_.c_str());
}

void* LoadedObject::find(const char* symbol) const { return dlsym(handle_, symbol); }

void LoadedObject::set_code(Codelet& c, const std::string& name) const {
  c.kernel = reinterpret_cast<KernelRange>(find(c.entry.c_str()));
  if (!c.kernel) fail(ErrorKind::graph_object_load_error, "gp-load", "'{}' cannot be loaded: it has no code for vertex '{}'", name, c.name);
  c.strided = reinterpret_cast<KernelStrided>(find((c.entry + kStridedSuffix).c_str()));
  c.count = reinterpret_cast<KernelCount>(find((c.entry + kCountSuffix).c_str()));
  c.counted = reinterpret_cast<KernelCounted>(find((c.entry + kCountedSuffix).c_str()));
  const bool needs_count = c.counting == CountedBy::sizes || c.counting == CountedBy::inputs;
  if ((needs_count && !c.count) || (c.counting == CountedBy::run && !c.counted))
    fail(ErrorKind::graph_object_load_error, "gp-load", "'{}' cannot be loaded: it has no code that counts vertex '{}'", name, c.name);
}

}  // namespace pando
