// Why no tile can go on: who waits for what.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace pando::ontile {

struct Wait {
  unsigned tile = 0;
  std::uint32_t kind = 0;      // exchange_kind; kind_none: it does not wait
  std::uint32_t argument = 0;  // the root, or from whom
  bool ended = false;          // its interpreter is gone
};

// "exchange cannot go on: tiles 0-3,5 wait in alltoall(); tile 4 has ended the command". At most kMostListed groups.
std::string describe(const std::vector<Wait>& waits);

}  // namespace pando::ontile
