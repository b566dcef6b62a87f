// For tests and benchmarks: files of the repository and of its build, by their paths from there. They are found from the executable, which
// lies in the folder of its build: an object that names no clone is the same in all of them, and compiler caches find it again.
#pragma once

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

namespace pando {

struct BuildPlaces {
  std::string build, source;
};

// Of an executable: the nearest folder above it in which CMake built, and the one that it was configured from. Throws std::system_error if
// there is none.
inline BuildPlaces places_of(const std::filesystem::path& executable) {
  constexpr const char* kSource = "CMAKE_HOME_DIRECTORY:INTERNAL=";
  for (std::filesystem::path folder = executable.parent_path();; folder = folder.parent_path()) {
    std::ifstream cache(folder / "CMakeCache.txt");
    for (std::string line; std::getline(cache, line);)
      if (line.rfind(kSource, 0) == 0) return {folder.string(), line.substr(std::char_traits<char>::length(kSource))};
    if (folder == folder.parent_path()) break;
  }
  throw std::system_error(
      ENOENT, std::generic_category(),
      "no folder above '" + executable.string() + "' has the CMakeCache.txt of a build: tests and benchmarks run where they were built");
}

inline const BuildPlaces& places_of_this_build() {
  static const BuildPlaces places = places_of(std::filesystem::read_symlink("/proc/self/exe"));
  return places;
}

// `path`: "tests/data/machines.csv".
inline std::string source_path(const std::string& path) { return places_of_this_build().source + "/" + path; }
// `path`: "bin/pando".
inline std::string build_path(const std::string& path) { return places_of_this_build().build + "/" + path; }

}  // namespace pando
