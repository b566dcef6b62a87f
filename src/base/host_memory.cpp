#include "base/host_memory.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>

#include "base/error.h"
#include "base/sizes.h"

namespace pando {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t kNoLimit = ~std::uint64_t{0};

// "max", and what is not there, is no limit.
std::uint64_t limit_in(const fs::path& file) {
  std::ifstream in(file);
  std::uint64_t bytes = 0;
  return in >> bytes ? bytes : kNoLimit;
}

std::uint64_t least_above(const fs::path& mount, std::string_view group, const char* file) {
  std::uint64_t least = limit_in(mount / file);
  for (fs::path path = fs::path(group).relative_path(); !path.empty(); path = path.parent_path())
    least = std::min(least, limit_in(mount / path / file));
  return least;
}

std::uint64_t physical_memory() {
  const long pages = ::sysconf(_SC_PHYS_PAGES), page = ::sysconf(_SC_PAGESIZE);
  return pages > 0 && page > 0 ? static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page) : kMostBytes;
}

}  // namespace

std::uint64_t memory_limit_of_groups(std::string_view groups, const fs::path& root) {
  std::uint64_t least = kNoLimit;
  while (!groups.empty()) {  // "4:memory,cpu:/path", or "0::/path" of version 2
    const std::string_view line = groups.substr(0, groups.find('\n'));
    groups.remove_prefix(std::min(groups.size(), line.size() + 1));
    const std::size_t first = line.find(':'), second = first == line.npos ? line.npos : line.find(':', first + 1);
    if (second == line.npos) continue;
    const std::string controllers = "," + std::string(line.substr(first + 1, second - first - 1)) + ",";
    const std::string_view path = line.substr(second + 1);
    if (controllers == ",,") {
      least = std::min({least, least_above(root, path, "memory.max"), least_above(root / "unified", path, "memory.max")});
    } else if (controllers.find(",memory,") != controllers.npos) {
      least = std::min(least, least_above(root / "memory", path, "memory.limit_in_bytes"));
    }
  }
  return least;
}

std::uint64_t host_memory() {
  if (const char* text = std::getenv("PANDO_HOST_MEMORY"); text && *text) {
    std::uint64_t bytes = 0;
    const char* const last = text + std::strlen(text);
    if (const auto [end, error] = std::from_chars(text, last, bytes); error != std::errc() || end != last || bytes == 0)
      fail(ErrorKind::invalid_option, "host-memory", "PANDO_HOST_MEMORY is '{}'; expected a number of bytes", text);
    return bytes;
  }
  static const std::uint64_t of_system = [] {
    std::ifstream groups("/proc/self/cgroup");
    const std::string text((std::istreambuf_iterator<char>(groups)), {});
    return std::min(physical_memory(), memory_limit_of_groups(text, "/sys/fs/cgroup"));
  }();
  return of_system;
}

}  // namespace pando
