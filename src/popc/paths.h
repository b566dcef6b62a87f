// Where popc finds what it needs, and how it reads files.
#pragma once

#include <string>

namespace pando::popc {

// The folder with poplar/Vertex.hpp: ../include beside the executable, in a prefix and in the folder of a build.
std::string include_directory();
// The linker.
std::string linker_path();
// Where the libraries are that are installed with popc.
std::string library_directory();

// All bytes of a file. Throws std::runtime_error if it cannot be read.
std::string read_file(const std::string& name);

}  // namespace pando::popc
