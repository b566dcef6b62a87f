// Which build of Pando this process runs.
#pragma once

#include <cstdint>

namespace pando::ranks {

// Of this program and the libraries that compile and run programs, as the loader has them, and of the codelets beside them. Ranks of one
// build have the same; found once in a process.
std::uint64_t hash_of_build();

}  // namespace pando::ranks
