// Sets of tiles as people write them: "0-5,7,9-11", "even", "odd", "ipu 3", "0:1472:2" (from, to but without, step), "all".
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace pando::ontile {

struct Tiles {
  unsigned ipus = 1;
  unsigned count = 0;  // of all IPUs
};

// Sorted, each once. Throws invalid_option, which says which part is wrong and what could stand there.
std::vector<unsigned> parse_tiles(std::string_view text, const Tiles& tiles);

// "0-5,7,9-11" of sorted tiles; what goes in steps for long is written as a slice, "1:1472:2"; "none" of none.
std::string print_tiles(const std::vector<unsigned>& tiles);

}  // namespace pando::ontile
