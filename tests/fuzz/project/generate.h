// Random loop programs: bodies of ops on small tensors, states, streams of the host, annotations here and there.
#pragma once

#include <cstdint>
#include <string>

namespace pando::fuzz {

// The text of a module whose main graph is a loop's body.
std::string generate_loop(std::uint64_t seed);

}  // namespace pando::fuzz
