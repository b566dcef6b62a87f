// Where popc finds what it needs.
#pragma once

#include <string>

namespace pando::popc {

// The folder with poplar/Vertex.hpp: ../include beside the executable if it is installed, else the source tree's.
std::string include_directory();
// The linker.
std::string linker_path();
// Where the libraries are that are installed with popc.
std::string library_directory();

}  // namespace pando::popc
