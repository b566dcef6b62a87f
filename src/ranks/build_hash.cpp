#include "ranks/build_hash.h"

#include "base/archive.h"

#include <link.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>

namespace pando::ranks {

namespace {

// The linker's note: a hash of what it linked. Empty where there is none.
std::string build_id(const dl_phdr_info& library) {
  for (int h = 0; h < library.dlpi_phnum; ++h) {
    const ElfW(Phdr)& part = library.dlpi_phdr[h];
    if (part.p_type != PT_NOTE) continue;
    const char* at = reinterpret_cast<const char*>(library.dlpi_addr + part.p_vaddr);
    const char* const end = at + part.p_memsz;
    const auto padded = [](std::size_t n) { return (n + 3) / 4 * 4; };
    while (at + sizeof(ElfW(Nhdr)) <= end) {
      const auto& note = *reinterpret_cast<const ElfW(Nhdr)*>(at);
      const char* const contents = at + sizeof note + padded(note.n_namesz);
      if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && std::string_view(at + sizeof note, 3) == "GNU")
        return {contents, note.n_descsz};
      at = contents + padded(note.n_descsz);
    }
  }
  return {};
}

std::string contents(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// By file name: hosts may have them in different places.
using Parts = std::map<std::string, std::uint64_t>;

int add_library(dl_phdr_info* library, std::size_t, void* to) {
  Parts& parts = *static_cast<Parts*>(to);
  const std::filesystem::path path = library->dlpi_name;
  const std::string name = path.filename();
  const auto begins = [&](std::string_view with) { return name.starts_with(with); };
  if (!name.empty() && !begins("libpando") && !begins("libpop") && !begins("libgcl")) return 0;
  // The program itself has no name here.
  const std::string id = build_id(*library);
  parts[name] = checksum(!id.empty() ? id : contents(name.empty() ? std::filesystem::path("/proc/self/exe") : path));
  if (name.empty()) return 0;
  const std::filesystem::path codelets = path.parent_path() / (path.stem().string().substr(3) + ".gp");
  std::error_code ignored;
  if (std::filesystem::exists(codelets, ignored)) parts[codelets.filename()] = checksum(contents(codelets));
  return 0;
}

}  // namespace

std::uint64_t hash_of_build() {
  static const std::uint64_t hash = [] {
    Parts parts;
    dl_iterate_phdr(add_library, &parts);
    std::string text;
    for (const auto& [name, sum] : parts) text += name + ' ' + std::to_string(sum) + '\n';
    return checksum(text);
  }();
  return hash;
}

}  // namespace pando::ranks
