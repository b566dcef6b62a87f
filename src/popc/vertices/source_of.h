// Where code comes from.
#pragma once

#include <cstdint>
#include <string>

namespace pando::popc {

// "FILE:LINE" of an address of a shared object, by its debug information; "?" if there is none.
std::string source_of(const std::string& object, std::uint64_t address);

}  // namespace pando::popc
