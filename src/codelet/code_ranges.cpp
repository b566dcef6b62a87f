#include "codelet/code_ranges.h"

#include <dlfcn.h>
#include <link.h>

#include <array>
#include <atomic>

namespace pando {

namespace {

// A slot is free while `begin` is 0; `end` is written first.
struct CodeRange {
  std::atomic<std::uintptr_t> begin{0}, end{0};
  std::atomic<void*> handle{nullptr};
};
std::array<CodeRange, 4096> ranges;
std::atomic<std::size_t> used{0};  // slots beyond were never taken

void add(void* handle, std::uintptr_t begin, std::uintptr_t end) {
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    void* none = nullptr;
    if (!ranges[i].handle.compare_exchange_strong(none, handle)) continue;
    ranges[i].end.store(end);
    ranges[i].begin.store(begin);
    std::size_t before = used.load();
    while (before < i + 1 && !used.compare_exchange_weak(before, i + 1)) {}
    return;
  }
}

struct Found {
  void* handle;
  std::uintptr_t address;
};

int add_segments(dl_phdr_info* info, std::size_t, void* data) {
  const Found& found = *static_cast<Found*>(data);
  if (info->dlpi_addr != found.address) return 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
    const std::uintptr_t begin = info->dlpi_addr + segment.p_vaddr;
    add(found.handle, begin, begin + segment.p_memsz);
  }
  return 1;
}

}  // namespace

std::uintptr_t load_address(void* handle) {
  link_map* map = nullptr;
  return handle && dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map ? map->l_addr : 0;
}

void add_code_of(void* handle) {
  Found found{handle, load_address(handle)};
  if (found.address != 0) dl_iterate_phdr(add_segments, &found);
}

void remove_code_of(void* handle) {
  for (std::size_t i = 0; i < used.load(); ++i)
    if (ranges[i].handle.load() == handle) {
      ranges[i].begin.store(0);
      ranges[i].end.store(0);
      ranges[i].handle.store(nullptr);
    }
}

bool is_codelet_code(std::uintptr_t address) {
  for (std::size_t i = 0; i < used.load(std::memory_order_relaxed); ++i) {
    const std::uintptr_t begin = ranges[i].begin.load();
    if (begin != 0 && address >= begin && address < ranges[i].end.load()) return true;
  }
  return false;
}

}  // namespace pando
