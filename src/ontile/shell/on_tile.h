// on_tile.py, as text. The build makes the definition.
#pragma once

#include <string_view>

namespace pando::ontile {

extern const std::string_view kOnTile;

}  // namespace pando::ontile
