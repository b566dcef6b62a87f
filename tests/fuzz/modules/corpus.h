// Modules to begin with: random ones as users write them, and steps of training, placed on devices and not.
#pragma once

#include <cstdint>
#include <string>

namespace pando::fuzz {

// The text of module number `n`.
std::string corpus_text(std::uint64_t n);

}  // namespace pando::fuzz
