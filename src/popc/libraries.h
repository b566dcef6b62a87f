// Shared libraries that codelets call, besides the host's C and C++ libraries: popc -lNAME.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "popc/options.h"

namespace pando::popc {

struct CalledLibrary {
  std::string file;  // "libNAME.so": the description holds this name, the loader looks for it
  std::string path;
  std::set<std::string> symbols;  // the functions and variables it exports
};

// The C and C++ libraries that all code may call, of the system in options.sysroot. Empty if there is none: popc's own serve. Throws
// std::runtime_error if one is not there.
std::vector<CalledLibrary> libraries_of_sysroot(const Options& options);
// The file of -lNAME.
std::string library_file(const std::string& name);

// The libraries of the options' -l and of `from_inputs` (file names), each once, in that order. Looks in the -L folders, then in
// ../lib beside popc. Throws std::runtime_error if one is not there or is no shared library.
std::vector<CalledLibrary> find_libraries(const Options& options, const std::vector<std::string>& from_inputs);

}  // namespace pando::popc
