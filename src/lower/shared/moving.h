// What moves between tiles: groups of elements well, single elements that lie apart at a high price.
#pragma once

#include <cstddef>

namespace pando::lower {

// Elements that follow each other, at least, for them to be moved together.
constexpr std::size_t kMovedTogether = 16;

}  // namespace pando::lower
